/** Findings: one per failed rule, with the measured value, the limit and its source, and the next step. */
import { object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { ProofClass } from '../../onnx/rewrite/rule.js';

/**
 * 'error': the device was observed to run the unit and to compute wrong values; the `compile` stage rejects the model.
 * 'refused': a documented or observed limit is exceeded; the unit runs on the CPU.
 * 'undocumented': no source states that the target runs it; the unit runs on the CPU, unless params trust the operator.
 * 'warning': the unit stays on the NPU.
 */
export type Severity = 'error' | 'refused' | 'undocumented' | 'warning';

export const SOURCE_SCHEMA = object({
  kind: oneOf(
    ['vendor-doc', 'vendor-source', 'observed', 'assumption', 'user'],
    "vendor-doc: a page of the vendor's documentation. vendor-source: a file of the vendor's public source. observed: observed on a device and published by a third party. assumption: a choice of this project, or a value that nobody has published. user: a profile written by the user.",
  ),
  title: text('A readable title.'),
  ref: text('A URL, or "repository:path".'),
});

export type Source = FromSchema<typeof SOURCE_SCHEMA>;

export type SourceKind = Source['kind'];

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
