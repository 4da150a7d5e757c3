/**
 * Parses the text of a lock file.
 * The text is untrusted: it may be merged by git, edited or truncated. Anything that Tanren did not write is refused at its line.
 */
import { parseDigest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Content, Contents } from '../model/artifact.js';
import { LOCK_VERSION } from './encode-lock.js';
import type { ClassResult, Facts, Lock, LockedResults, LockedStage } from './lock.js';
import { LockRefused, linesOf } from './lock-refused.js';
import type { FailAt, Outline, OutlineMap } from './outline.js';
import { parseOutline, toJson } from './outline.js';

const DAMAGED_HELP = 'restore it (git checkout), or delete it: `tanren build` writes it anew, for this platform class';
const CONFLICT_HELP = 'take either side (git checkout --ours or --theirs) and run `tanren build`: it updates the lock file';

/** @param name of the file, for messages. @throws LockRefused `lock-conflict`, `lock-newer`, `lock-damaged`. */
export function parseLock(text: string, name: string): Lock {
  const refuse = (code: string, line: number, message: string, help: string): never => {
    const span = linesOf(name, text)(line);
    throw new LockRefused([{ severity: 'error', code, message, span, help }], new Map([[name, text]]));
  };
  const fail: FailAt = (line, message) => refuse('lock-damaged', line, message, DAMAGED_HELP);
  const conflict = findConflict(text);
  if (conflict !== undefined) refuse('lock-conflict', conflict, 'an unresolved merge conflict', CONFLICT_HELP);
  const version = findVersion(text);
  if (version !== undefined && version.number > LOCK_VERSION) {
    const message = `the lock file has version ${version.number}, but this version of tanren reads ${LOCK_VERSION}`;
    refuse('lock-newer', version.line, message, 'use the tanren that wrote it, or a newer one');
  }
  return readLock(parseOutline(text, fail), fail);
}

function findConflict(text: string): number | undefined {
  const found = /^(?:<{7}|={7}|>{7}|\|{7})(?=\s|$)/m.exec(text);
  return found === null ? undefined : text.slice(0, found.index).split('\n').length;
}

/** Searched before parsing, because another version may have another format. */
function findVersion(text: string): { readonly number: number; readonly line: number } | undefined {
  const found = /^version: (\d{1,9})\r?$/m.exec(text);
  return found === null ? undefined : { number: Number(found[1]), line: text.slice(0, found.index).split('\n').length };
}

function readLock(root: OutlineMap, fail: FailAt): Lock {
  const { version, stages } = fieldsOf(root, ['version', 'stages'], fail);
  if (version?.kind !== 'value' || version.value !== LOCK_VERSION) return fail(version?.line ?? 1, `"version: ${LOCK_VERSION}" is missing`);
  const read = new Map<string, LockedStage>();
  for (const [id, stage] of membersOf(stages, root.line, 'stages', fail)) {
    if (stage.kind !== 'map') return fail(stage.line, `stage "${id}" is empty`);
    read.set(id, readStage(stage, fail));
  }
  return { stages: read };
}

function readStage(stage: OutlineMap, fail: FailAt): LockedStage {
  const fields = fieldsOf(stage, ['plugin', 'version', 'code', 'params', 'inputs', 'tools', 'env', 'outputs', 'classes'], fail);
  const { plugin, version, code } = fields;
  const name = plugin?.kind === 'value' ? plugin.value : undefined;
  const number = version?.kind === 'value' ? version.value : undefined;
  if (typeof name !== 'string') return fail(plugin?.line ?? stage.line, 'expected "plugin: NAME"');
  if (typeof number !== 'number') return fail(version?.line ?? stage.line, 'expected "version: NUMBER"');
  const facts: Facts = {
    plugin: name,
    version: number,
    code: readDigest(code, stage.line, fail),
    params: optional(fields.params, {}, params => readObject(params, fail)),
    inputs: optional(fields.inputs, {}, inputs => mapOutline(inputs, 'inputs', fail, input => readInput(input, fail))),
    tools: optional(fields.tools, {}, tools => mapOutline(tools, 'tools', fail, tool => readDigest(tool, tool.line, fail))),
    env: optional(fields.env, [], env => readNames(env, fail)),
  };
  return { facts, results: readResults(stage, fields, fail), outline: stage };
}

function readResults(
  stage: OutlineMap,
  { outputs, classes }: { readonly outputs?: Outline | undefined; readonly classes?: Outline | undefined },
  fail: FailAt,
): LockedResults {
  if (classes !== undefined) {
    if (outputs !== undefined) return fail(outputs.line, 'a stage has outputs or classes, not both');
    const read = Object.entries(mapOutline(classes, 'classes', fail, one => readClass(one, fail)));
    return { kind: 'per-class', classes: new Map(read) };
  }
  if (outputs === undefined) return fail(stage.line, 'expected outputs or classes');
  if (outputs.kind === 'value' && outputs.value === 'measured') return { kind: 'measured' };
  return { kind: 'same', outputs: readContents(outputs, 'outputs', fail) };
}

function readClass(node: Outline, fail: FailAt): ClassResult {
  if (node.kind !== 'map') return fail(node.line, 'expected the outputs of a class');
  const { inputs, outputs } = fieldsOf(node, ['inputs', 'outputs'], fail);
  return {
    inputs: optional(inputs, {}, one => readContents(one, 'inputs', fail)),
    outputs: readContents(outputs ?? fail(node.line, 'expected the outputs of a class'), 'outputs', fail),
  };
}

function readContents(node: Outline, what: string, fail: FailAt): Contents {
  return mapOutline(node, what, fail, one => readContent(one) ?? fail(one.line, 'expected "file DIGEST" or "folder DIGEST"'));
}

function readInput(node: Outline, fail: FailAt): JsonObject | string {
  const content = readContent(node);
  if (content !== undefined) return { ...content };
  if (node.kind === 'value' && typeof node.value === 'string' && /^[^ ]+\.[^ .]+$/.test(node.value)) return node.value;
  return fail(node.line, 'expected "file DIGEST", "folder DIGEST" or "stage.port"');
}

function readContent(node: Outline): Content | undefined {
  const [kind, text, flag, ...more] = node.kind === 'value' && typeof node.value === 'string' ? node.value.split(' ') : [];
  const digest = parseDigest(text);
  if (digest === undefined || more.length > 0 || (flag !== undefined && flag !== 'executable')) return undefined;
  if (kind === 'folder') return flag === undefined ? { kind: 'tree', digest, executable: false } : undefined;
  return kind === 'file' ? { kind, digest, executable: flag !== undefined } : undefined;
}

function readDigest(node: Outline | undefined, line: number, fail: FailAt): string {
  const digest = node?.kind === 'value' ? parseDigest(node.value) : undefined;
  return digest ?? fail(node?.line ?? line, 'expected a digest of 64 hexadecimal digits');
}

function readNames(node: Outline, fail: FailAt): readonly string[] {
  const names = node.kind === 'value' && Array.isArray(node.value) ? node.value : fail(node.line, 'env should be a list of names');
  return names.map(name => (typeof name === 'string' ? name : fail(node.line, 'env should be a list of names')));
}

function readObject(node: Outline, fail: FailAt): JsonObject {
  const value = toJson(node);
  return isJsonObject(value) ? value : fail(node.line, 'params should be a map');
}

/** The members of a map. Fails if a name is not in `names`. */
function fieldsOf<Name extends string>(node: OutlineMap, names: readonly Name[], fail: FailAt): { readonly [N in Name]?: Outline } {
  for (const [name, { line }] of node.members) if (!names.some(known => known === name)) fail(line, `"${name}" is unknown here`);
  return Object.fromEntries([...node.members]) as { readonly [N in Name]?: Outline };
}

function membersOf(node: Outline | undefined, line: number, what: string, fail: FailAt): Iterable<readonly [string, Outline]> {
  if (node?.kind === 'map') return node.members;
  if (node !== undefined && isJsonObject(node.value) && Object.keys(node.value).length === 0) return [];
  return fail(node?.line ?? line, `${what} should be a map`);
}

function mapOutline<T>(node: Outline, what: string, fail: FailAt, read: (member: Outline) => T): Readonly<Record<string, T>> {
  return Object.fromEntries([...membersOf(node, node.line, what, fail)].map(([name, member]) => [name, read(member)]));
}

function optional<T>(node: Outline | undefined, absent: T, read: (node: Outline) => T): T {
  return node === undefined ? absent : read(node);
}
