/** Findings: one per failed rule, with the measured value, the limit and its source, and the next step. */
import type { ProofClass } from '../../onnx/rewrite/rule.js';

/**
 * 'refused': a documented or observed limit is exceeded; the unit runs on the CPU.
 * 'undocumented': no source states that the target runs it; the unit runs on the CPU, unless params trust the operator.
 * 'warning': the unit stays on the NPU.
 */
export type Severity = 'refused' | 'undocumented' | 'warning';

export type SourceKind =
  /** A page of the vendor's documentation. */
  | 'vendor-doc'
  /** A file of the vendor's public source. */
  | 'vendor-source'
  /** Observed on a device and published by a third party. */
  | 'observed'
  /** A choice of this project, or a value that nobody has published. */
  | 'assumption'
  /** A profile written by the user. */
  | 'user';

export type Source = {
  readonly kind: SourceKind;
  /** A readable title. */
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
  /** Stable kebab-case name, listed in docs/npu-compile.md. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with the measured value and the limit. */
  readonly message: string;
  /** Further information, equal for all nodes with this failure. */
  readonly note?: string;
  /** The measured value: "kernel 1×1", "scale 0.0123". */
  readonly measured: string;
  /** The supported values: "2 to 8 in each direction". */
  readonly limit: string;
  readonly source: Source;
  readonly fixIts: readonly FixIt[];
};
