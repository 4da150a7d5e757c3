/** Connection of input ports: references are resolved against sources and outputs of other stages, and every mismatch is a diagnostic. */

import { findOwn } from '../../base/find-own.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { ARTIFACT_KINDS, type KindName, type Port, type Ports } from '../../stage/ports.js';
import { listOf } from '../config/check-schema.js';
import { type Located, membersOf } from '../config/located.js';
import { parseArtifactReference, parseSourceReference } from '../config/scalars.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { InputBinding, InputRef, StageId } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';
import type { FileFacts } from './narrow-folders.js';

/** A source: one path, or paths by key. */
export type Source =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'record'; readonly paths: ReadonlyMap<string, string> };

/** Everything that inputs can refer to. */
export interface Surroundings {
  readonly sources: ReadonlyMap<string, Source>;
  /** The instances of each group, by the text after the "@". */
  readonly groups: ReadonlyMap<string, ReadonlyMap<string | undefined, StageId>>;
  /** Returns the output ports of an instance; undefined if its plugin or params are wrong, which is reported elsewhere. */
  findOutputs(stage: StageId): Ports | undefined;
  readonly files: FileFacts;
}

/** Some plugins, such as `command`, have the inputs that their params declare. */
function describePorts(names: readonly string[]): string {
  return names.length === 0
    ? 'it has no inputs; a plugin with inputs by its params takes them from "inputs" under "with"'
    : `its inputs are ${listOf(names)}`;
}

export function connectInputs(
  stage: StageId,
  ports: Ports,
  inputs: Located | undefined,
  stageSpan: SourceSpan,
  around: Surroundings,
  diagnostics: DiagnosticSink,
): Readonly<Record<string, InputBinding>> {
  const bindings: Record<string, InputBinding> = {};
  for (const [name, member] of membersOf(inputs)) {
    const port = findOwn(ports, name);
    if (port === undefined) {
      const closest = findClosest(name, Object.keys(ports));
      const help = closest === undefined ? describePorts(Object.keys(ports)) : `did you mean "${closest}"?`;
      diagnostics.error('unknown-port', member.keySpan, `stage "${stage}" has no input "${name}"`, help);
      continue;
    }
    const binding =
      port.entries === undefined
        ? connectOne(port.kind, member.value, around, diagnostics)
        : connectRecord(name, port, member.value, around, diagnostics);
    if (binding !== undefined) bindings[name] = binding;
  }
  const given = membersOf(inputs);
  for (const [name, port] of Object.entries(ports)) {
    if (!port.optional && !given.has(name)) {
      diagnostics.error(
        'missing-input',
        inputs?.span ?? stageSpan,
        `stage "${stage}" needs the input "${name}"`,
        port.description === '' ? undefined : port.description,
      );
    }
  }
  return { ...bindings, ...connectBeside(ports, bindings, given, around) };
}

/** Connects ports that are not given to the files beside the sources of other ports. */
function connectBeside(
  ports: Ports,
  bindings: Readonly<Record<string, InputBinding>>,
  given: ReadonlyMap<string, unknown>,
  { files }: Surroundings,
): Readonly<Record<string, InputBinding>> {
  const found: Record<string, InputBinding> = {};
  for (const [name, { beside }] of Object.entries(ports)) {
    const main = beside === undefined || given.has(name) ? undefined : findOwn(bindings, beside.input);
    if (main?.kind !== 'source') continue;
    const suffix = beside?.suffixes.find(one => files.kindOf(main.path + one) === 'file');
    if (suffix !== undefined) found[name] = { ...main, name: `${main.name}${suffix}`, path: main.path + suffix };
  }
  return found;
}

/** Reports references in `inputs` that lead nowhere, for a stage whose ports are not known because it has other errors. */
export function checkReferences(inputs: Located, around: Surroundings, diagnostics: DiagnosticSink): void {
  if (inputs.kind === 'map') for (const { value } of membersOf(inputs).values()) checkReferences(value, around, diagnostics);
  if (inputs.kind !== 'scalar' || typeof inputs.value !== 'string') return;
  const source = parseSourceReference(inputs.value);
  // Its port may take a source that is a record.
  if (source !== undefined && source.key === undefined) findSource(source.name, inputs.span, around, diagnostics);
  else connectOne('any', inputs, around, diagnostics);
}

function connectOne(kind: KindName, value: Located, around: Surroundings, diagnostics: DiagnosticSink): InputRef | undefined {
  if (value.kind !== 'scalar' || typeof value.value !== 'string') {
    diagnostics.error('bad-reference', value.span, 'this port takes one artifact', 'write "stage.port" or "${sources.name}"');
    return undefined;
  }
  const text = value.value;
  const source = parseSourceReference(text);
  if (source !== undefined) return connectSource(source, value.span, around, diagnostics);
  const reference = parseArtifactReference(text);
  if (reference === undefined) {
    diagnostics.error(
      'bad-reference',
      value.span,
      `"${text}" is not a reference to an artifact`,
      'write "stage.port", "stage@item.port" or "${sources.name}"',
    );
    return undefined;
  }
  const instances = around.groups.get(reference.group);
  if (instances === undefined) {
    diagnostics.error('unknown-stage', value.span, `unknown stage "${reference.group}"`, () => {
      const closest = findClosest(reference.group, around.groups.keys());
      return closest === undefined ? `known stages: ${listOf([...around.groups.keys()])}` : `did you mean "${closest}"?`;
    });
    return undefined;
  }
  const stage = instances.get(reference.item);
  if (stage === undefined) {
    diagnostics.error('unknown-instance', value.span, `"${text}" names no instance of "${reference.group}"`, () => {
      const names = [...instances.values()].map(id => `${id}.${reference.port}`);
      const wanted = `${reference.group}@${reference.item}.${reference.port}`;
      const closest = reference.item === undefined ? undefined : findClosest(wanted, names);
      return closest === undefined ? `its instances are ${listOf(names)}` : `did you mean "${closest}"?`;
    });
    return undefined;
  }
  const outputs = around.findOutputs(stage);
  if (outputs === undefined) return undefined;
  const output = findOwn(outputs, reference.port);
  if (output === undefined) {
    const closest = findClosest(reference.port, Object.keys(outputs));
    const help = `its outputs are ${listOf(Object.keys(outputs))}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
    diagnostics.error('unknown-port', value.span, `stage "${stage}" has no output "${reference.port}"`, help);
    return undefined;
  }
  if (!fits(output.kind, kind)) {
    diagnostics.error(
      'kind-mismatch',
      value.span,
      `"${text}" is of kind ${output.kind}; the port takes ${kind}`,
      ARTIFACT_KINDS[kind].description,
    );
    return undefined;
  }
  return { kind: 'artifact', stage, port: reference.port, span: value.span };
}

function connectSource(
  { name, key }: { readonly name: string; readonly key: string | undefined },
  span: SourceSpan,
  around: Surroundings,
  diagnostics: DiagnosticSink,
): InputRef | undefined {
  const source = findSource(name, span, around, diagnostics);
  if (source === undefined) return undefined;
  if (source.kind === 'path') {
    if (key === undefined) return { kind: 'source', name, path: source.path, span };
    diagnostics.error('unknown-source', span, `source "${name}" is a single path, so it has no entry "${key}"`);
    return undefined;
  }
  const path = key === undefined ? undefined : source.paths.get(key);
  if (path !== undefined) return { kind: 'source', name: `${name}.${key}`, path, span };
  const message =
    key === undefined ? `source "${name}" is a record, but this port takes one artifact` : `source "${name}" has no entry "${key}"`;
  diagnostics.error('unknown-source', span, message, () => {
    const keys = [...source.paths.keys()];
    const closest = key === undefined ? undefined : findClosest(key, keys);
    return closest === undefined ? `its entries are ${listOf(keys)}` : `did you mean "${closest}"?`;
  });
  return undefined;
}

function findSource(name: string, span: SourceSpan, around: Surroundings, diagnostics: DiagnosticSink): Source | undefined {
  const source = around.sources.get(name);
  if (source !== undefined) return source;
  diagnostics.error('unknown-source', span, `unknown source "${name}"`, () => {
    const closest = findClosest(name, around.sources.keys());
    return closest === undefined ? `known sources: ${listOf([...around.sources.keys()])}` : `did you mean "${closest}"?`;
  });
  return undefined;
}

function connectRecord(
  name: string,
  port: Port,
  value: Located,
  around: Surroundings,
  diagnostics: DiagnosticSink,
): InputBinding | undefined {
  const entries: Record<string, InputRef> = {};
  const kindOf = (entry: string): KindName => findOwn(port.entryKinds, entry) ?? port.kind;
  if (value.kind === 'map') {
    for (const [entry, member] of value.members) {
      if (port.entries !== 'any' && !port.entries?.includes(entry)) {
        const closest = findClosest(entry, port.entries ?? []);
        diagnostics.error(
          'unknown-entry',
          member.keySpan,
          `input "${name}" has no entry "${entry}"`,
          closest === undefined ? `its entries are ${listOf(port.entries ?? [])}` : `did you mean "${closest}"?`,
        );
        continue;
      }
      const ref = connectOne(kindOf(entry), member.value, around, diagnostics);
      if (ref !== undefined) entries[entry] = ref;
    }
    const missing = (port.entries === 'any' ? [] : (port.entries ?? [])).filter(entry => !value.members.has(entry));
    if (missing.length > 0) diagnostics.error('missing-entry', value.span, `input "${name}" needs ${listOf(missing)}`);
    return { kind: 'record', entries };
  }
  const reference = value.kind === 'scalar' && typeof value.value === 'string' ? parseSourceReference(value.value) : undefined;
  if (reference === undefined || reference.key !== undefined) {
    diagnostics.error(
      'bad-reference',
      value.span,
      `input "${name}" takes several artifacts by name`,
      `write a map, or a source that is one${port.entries === 'any' ? '' : `: ${listOf(port.entries ?? [])}`}`,
    );
    return undefined;
  }
  const source = findSource(reference.name, value.span, around, diagnostics);
  if (source === undefined) return undefined;
  const paths = source.kind === 'record' ? source.paths : new Map<string, string>();
  const wanted = port.entries === 'any' ? [...paths.keys()] : (port.entries ?? []);
  for (const entry of wanted) {
    const path = paths.get(entry);
    if (path === undefined)
      diagnostics.error('missing-entry', value.span, `input "${name}" needs "${entry}", which source "${reference.name}" does not have`);
    else entries[entry] = { kind: 'source', name: `${reference.name}.${entry}`, path, span: value.span };
  }
  return { kind: 'record', entries };
}

function fits(output: KindName, input: KindName): boolean {
  if (output === input || output === 'any' || input === 'any') return true;
  const [from, to] = [ARTIFACT_KINDS[output], ARTIFACT_KINDS[input]];
  if (input === 'file') return from.form !== 'folder';
  if (input === 'folder') return from.form !== 'file';
  if (output === 'file' || output === 'folder') return to.form !== (output === 'file' ? 'folder' : 'file');
  return input === 'json' && from.extension === '.json';
}
