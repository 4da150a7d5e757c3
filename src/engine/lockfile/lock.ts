/** The content of a lock file: for each stage the machine-independent facts of its action, and the digests of its outputs. */
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
  /** The position in the file; absent if the entry was not read from a file. */
  readonly outline?: OutlineMap;
}

/**
 * The action manifest without machine-specific entries (platform class, host, device, values of variables), and without content that may
 * differ between machines for that reason.
 */
export interface Facts extends JsonObject {
  readonly plugin: string;
  readonly version: number;
  readonly code: string;
  readonly params: JsonObject;
  /** By "port" or "port.entry": content, or "stage.port" if the content is not the same on every machine. */
  readonly inputs: JsonObject;
  readonly tools: JsonObject;
  /** Names only: values may be secret, and differ between machines. */
  readonly env: readonly string[];
}

export type LockedResults =
  /** The same on every machine. */
  | { readonly kind: 'same'; readonly outputs: Contents }
  /** Computed by ONNX Runtime, or made from such results. */
  | { readonly kind: 'per-class'; readonly classes: ReadonlyMap<string, ClassResult> }
  /** Measured, or made from measured results: constrained only by gates. */
  | { readonly kind: 'measured' };

export interface ClassResult {
  /** Content of the inputs that depend on the platform class, by "port" or "port.entry". */
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

/** Every digest of outputs in a lock file, for all platform classes. A cache should keep them. */
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
