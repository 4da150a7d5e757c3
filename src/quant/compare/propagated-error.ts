/** Errors of a model's values against the float original, including errors of all earlier nodes: their form in the report of `verify`, and its reader. */
import { readFigure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { anyList, anyText, fields, formatJsonProblems, integer, number, readJsonShape, text } from '../../base/json-shape.js';
import type { ComparisonFigures } from '../../tensor/compare.js';
import { QuantError } from '../integers/quant-error.js';

/** Figures of one value over all samples. */
export interface PropagatedError extends ComparisonFigures {
  /** Name in the float model. */
  readonly value: string;
  /** The counterpart in the other model: the value of the same name, or its dequantized form. */
  readonly comparedWith: string;
  /** The float model's node that computes the value; '' for a model input. */
  readonly node: string;
  readonly opType: string;
  /** Standard deviation of the float values. */
  readonly standardDeviation: number;
}

export interface PartErrors {
  /** The part's name; 'model' for a model without a detector. */
  readonly part: string;
  readonly samples: number;
  /** In graph order of the float model. */
  readonly values: readonly PropagatedError[];
  /** Float values without a counterpart, because they were fused or removed; in graph order. */
  readonly unmatched: readonly string[];
}

/** Encodes the member "propagated" of a `verify` report. */
export function encodePropagatedErrors(parts: readonly PartErrors[]): readonly JsonObject[] {
  return parts as unknown as readonly JsonObject[];
}

const reader = anyList(
  fields<PartErrors>({
    part: text(),
    samples: integer(0),
    values: anyList(
      fields<PropagatedError>({
        value: text(),
        comparedWith: text(),
        node: anyText(),
        opType: anyText(),
        standardDeviation: number({ min: 0 }),
        maxAbs: number({ min: 0 }),
        cosine: number({ min: -1, max: 1 }),
        sqnrDb: readFigure,
        elements: integer(0),
        broken: integer(0),
      }),
    ),
    unmatched: anyList(text()),
  }),
);

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
