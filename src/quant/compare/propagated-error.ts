/** Errors of a model's values against the float original, including errors of all earlier nodes: their form in the report of `verify`, and its reader. */

import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import { isJsonObject, type Json } from '../../base/json.js';
import { anyList, anyText, integer, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { COMPARISON_SCHEMA } from '../../tensor/compare.js';
import { QuantError } from '../integers/quant-error.js';

const ERROR_SCHEMA = object({
  value: text('Name in the float model.'),
  comparedWith: text('The counterpart in the other model: the value of the same name, or its dequantized form.'),
  node: anyText("The float model's node that computes the value; empty for a model input."),
  opType: anyText('Its operator.'),
  standardDeviation: number({ minimum: 0 }, 'Standard deviation of the float values.'),
  ...COMPARISON_SCHEMA.properties,
});

/** Figures of one value over all samples. */
export type PropagatedError = FromSchema<typeof ERROR_SCHEMA>;

const PART_ERRORS_SCHEMA = object({
  part: text("The part's name; model for a model without a detector."),
  samples: integer(0, 'Number of samples.'),
  values: anyList(ERROR_SCHEMA, 'In graph order of the float model.'),
  unmatched: anyList(text(), 'Float values without a counterpart, because they were fused or removed; in graph order.'),
});

/** An item of the member "propagated" of a `verify` report. */
export type PartErrors = FromSchema<typeof PART_ERRORS_SCHEMA>;

export const PROPAGATED_SCHEMA = anyList(PART_ERRORS_SCHEMA, 'Errors of inner values, an entry per part; with `values: all`.');

const reader = readerOf(PROPAGATED_SCHEMA);

/** The errors in a `verify` report; undefined where it compared outputs only. @throws QuantError `bad-verify-report`. */
export function findPropagatedErrors(report: Json): readonly PartErrors[] | undefined {
  const value = isJsonObject(report) && Object.hasOwn(report, 'propagated') ? report.propagated : undefined;
  if (value === undefined) return undefined;
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new QuantError('bad-verify-report', `invalid verify report, propagated errors: ${lines.join('; ')}`, {
    details: lines,
    help: 'run `verify` again with this version to write a new report',
  });
}
