/** A memo for tests of a plugin's parts: it keeps results in a folder, runs each key once, and remembers what was computed. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { digestFile, digestJson } from '../../src/base/digest.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Context, Part, PartRequest, PartResult } from '../../src/stage/context.js';

export interface StoringMemo {
  readonly memo: Context['memo'];
  /** Names of the parts that ran, in order; emptied by `forget`. */
  readonly computed: readonly string[];
  forget(): void;
}

/** It makes the folder "memo" in `parent`, when a part runs first. Keys are name, version, manifest and blobs by content, as the engine's; the code digest is the same in one test run. */
export function storingMemo(parent: { readonly path: string }): StoringMemo {
  const kept = new Map<string, Readonly<Record<string, string>>>();
  const computed: string[] = [];
  const digestOf = digestByStamp();
  const memo = async <Input extends JsonObject>(part: Part<Input>, request: PartRequest<Input>): Promise<PartResult> => {
    const blobs: Record<string, string> = {};
    for (const [role, path] of Object.entries(request.blobs)) blobs[role] = await digestOf(path);
    const key = digestJson({ name: part.name, version: part.version, manifest: request.manifest, blobs });
    const found = kept.get(key);
    if (found !== undefined) return { files: found, from: 'kept' };
    const own = join(parent.path, 'memo', key.slice(0, 20));
    await mkdir(own, { recursive: true });
    const context = { signal: new AbortController().signal, log: () => undefined };
    const names = await part.run({ ...request, unkeyed: request.unkeyed ?? {}, folder: own, context });
    const files = Object.fromEntries(names.map(name => [name, join(own, name)]));
    kept.set(key, files);
    computed.push(part.name);
    return { files, from: 'computed' };
  };
  return { memo, computed, forget: () => computed.splice(0) };
}

/** Digests a file again only after it changed, as the engine does. */
function digestByStamp(): (path: string) => Promise<string> {
  const known = new Map<string, { readonly stamp: string; readonly digest: string }>();
  return async path => {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    const stamp = [ino, size, mtimeNs].join(' ');
    const entry = known.get(path);
    if (entry?.stamp === stamp) return entry.digest;
    const digest = await digestFile(path);
    known.set(path, { stamp, digest });
    return digest;
  };
}
