/** What does a lock file hold? Per stage what its action is made of, the same on every machine, and the digests of what came of it. */
import type { Digest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { Content, Contents } from '../model/artifact.js';
import type { OutlineMap } from './outline.js';

export interface Lock {
  readonly stages: ReadonlyMap<string, LockedStage>;
}

export interface LockedStage {
  readonly facts: Facts;
  readonly results: LockedResults;
  /** Where it stands; absent where it was not read from a file. */
  readonly outline?: OutlineMap;
}

/** The action manifest without what belongs to a machine (platform class, host, device, values of variables) and without what may differ between machines for that reason. */
export interface Facts extends JsonObject {
  readonly plugin: string;
  readonly version: number;
  readonly code: string;
  readonly params: JsonObject;
  /** By "port" or "port.entry": content, or "stage.port" where the content is not the same on every machine. */
  readonly inputs: JsonObject;
  readonly tools: JsonObject;
  /** Names only: values may be secrets, and differ between machines. */
  readonly env: readonly string[];
}

export type LockedResults =
  /** The same on every machine. */
  | { readonly kind: 'same'; readonly outputs: Contents }
  /** ONNX Runtime computed them, or what they are made from. */
  | { readonly kind: 'per-class'; readonly classes: ReadonlyMap<string, ClassResult> }
  /** Measured, or made from what was measured: held by gates alone. */
  | { readonly kind: 'measured' };

export interface ClassResult {
  /** Content of the inputs that depend on the class, by "port" or "port.entry". */
  readonly inputs: Contents;
  readonly outputs: Contents;
}

export function lockedContent({ kind, digest, executable }: Content): Content {
  return { kind, digest, executable };
}

export function sameContents(a: Contents, b: Contents): boolean {
  return differingNames(a, b).length === 0;
}

export function differingNames(a: Contents, b: Contents): readonly string[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.filter(name => !sameContent(a[name], b[name]));
}

export function sameContent(a: Content | undefined, b: Content | undefined): boolean {
  return a !== undefined && b !== undefined && a.kind === b.kind && a.digest === b.digest && a.executable === b.executable;
}

/** Every digest of outputs that a lock names, of whatever class: what a cache should not lose. */
export function digestsIn(lock: Lock): ReadonlySet<Digest> {
  const found = new Set<Digest>();
  for (const { results } of lock.stages.values()) {
    const all =
      results.kind === 'same'
        ? [results.outputs]
        : results.kind === 'per-class'
          ? [...results.classes.values()].map(one => one.outputs)
          : [];
    for (const outputs of all) for (const { digest } of Object.values(outputs)) found.add(digest);
  }
  return found;
}
