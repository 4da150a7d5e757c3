/** Why does something not run on the NPU? One finding per failing rule: measured value, limit, where the limit is from, and what to do about it. */
import type { ProofClass } from '../../onnx/rewrite/rule.js';

/**
 * 'refused': the limit is documented or seen, and not kept: the unit goes to the CPU.
 * 'undocumented': nothing says that the target runs it: the unit is placed on the CPU, unless params say to trust it.
 * 'warning': it stays on the NPU, and somebody should know.
 */
export type Severity = 'refused' | 'undocumented' | 'warning';

export type SourceKind =
  /** A page of the vendor's documentation. */
  | 'vendor-doc'
  /** A file of the vendor's public source. */
  | 'vendor-source'
  /** Seen on a device by somebody else, and published. */
  | 'observed'
  /** A choice of this project, or a value that nobody published. */
  | 'assumption'
  /** A profile that the user wrote. */
  | 'user';

export type Source = {
  readonly kind: SourceKind;
  /** What a person calls it. */
  readonly title: string;
  /** A URL, or "repository:path". */
  readonly ref: string;
};

/** A rule of the `rewrite` plugin that makes the node legal. */
export type FixIt = {
  readonly rule: string;
  readonly form?: string;
  readonly effect: ProofClass;
  readonly note: string;
};

export type Finding = {
  /** Stable, kebab-case: docs/npu-compile.md lists them. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence for people; it has the measured value and the limit in it. */
  readonly message: string;
  /** What else is known: the same for every node that fails so. */
  readonly note?: string;
  /** "kernel 1×1", "scale 0.0123": what the model has. */
  readonly measured: string;
  /** "2 to 8 in each direction": what the target takes. */
  readonly limit: string;
  readonly source: Source;
  readonly fixIts: readonly FixIt[];
};
