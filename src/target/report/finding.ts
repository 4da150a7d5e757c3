/** Findings: one per failed rule, with the measured value, the limit and its source, and the next step. */
import { anyList, object, oneOf, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

export const SOURCE_SCHEMA = object({
  kind: oneOf(
    ['vendor-doc', 'vendor-source', 'observed', 'fit', 'assumption', 'user'],
    "vendor-doc: a page of the vendor's documentation. vendor-source: a file of the vendor's public source. observed: observed on a device and published by a third party. fit: computed from measured times, published or own. assumption: a choice of this project, or a value that nobody has published. user: a profile written by the user.",
  ),
  title: text('A readable title.'),
  ref: text('A URL, or "repository:path".'),
});

export type Source = FromSchema<typeof SOURCE_SCHEMA>;

export type SourceKind = Source['kind'];

const FIX_IT = openObject(
  { rule: text(), effect: oneOf(['exact', 'rounding', 'approximate'], 'The proof class of the rule.'), note: text() },
  { form: text() },
  'A rule of the `rewrite` plugin that makes the node legal.',
);

export type FixIt = FromSchema<typeof FIX_IT>;

const SEVERITY = oneOf(
  ['error', 'refused', 'undocumented', 'warning'],
  'error: the device was observed to run the unit and to compute wrong values; the `compile` stage rejects the model. refused: a documented or observed limit is exceeded; the unit runs on the CPU. undocumented: no source states that the target runs it; the unit runs on the CPU, unless params trust the operator. warning: the unit stays on the NPU.',
);

export type Severity = FromSchema<typeof SEVERITY>;

export const FINDING_SCHEMA = openObject(
  {
    rule: text('Stable kebab-case name, listed in docs/npu-compile.md.'),
    severity: SEVERITY,
    message: text('One sentence with the measured value and the limit.'),
    measured: text('The measured value: "kernel 1×1", "scale 0.0123".'),
    limit: text('The supported values: "2 to 8 in each direction".'),
    source: SOURCE_SCHEMA,
    fixIts: anyList(FIX_IT),
  },
  { note: text('Further information, equal for all nodes with this failure.') },
);

export type Finding = FromSchema<typeof FINDING_SCHEMA>;
