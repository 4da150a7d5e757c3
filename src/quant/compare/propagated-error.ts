/** How far has every value of a model moved from its float original, all errors before it included? The shape in which `verify` reports it, and its reader. */
import { readFigure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { anyList, anyText, fields, formatJsonProblems, integer, number, readJsonShape, text } from '../../base/json-shape.js';
import type { ComparisonFigures } from '../../tensor/compare.js';
import { QuantError } from '../integers/quant-error.js';

/** Figures of one value over all samples. */
export interface PropagatedError extends ComparisonFigures {
  /** In the float model. */
  readonly value: string;
  /** What it was compared with in the other model: the same name, or what DequantizeLinear gives of it. */
  readonly comparedWith: string;
  /** Of the float model's node that computes it; '' for an input of the model. */
  readonly node: string;
  readonly opType: string;
  /** Standard deviation of the float values. */
  readonly standardDeviation: number;
}

export interface PartErrors {
  /** 'model' where there is no detector. */
  readonly part: string;
  readonly samples: number;
  /** In graph order of the float model. */
  readonly values: readonly PropagatedError[];
  /** Float values of the float model that the other does not have, fused or removed; in graph order. */
  readonly unmatched: readonly string[];
}

/** The member "propagated" of a report of `verify`. */
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

/** The errors in a report of `verify`; undefined where it compared outputs alone. @throws QuantError `bad-verify-report`. */
export function findPropagatedErrors(report: Json): readonly PartErrors[] | undefined {
  const value = isJsonObject(report) && Object.hasOwn(report, 'propagated') ? report.propagated : undefined;
  if (value === undefined) return undefined;
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new QuantError('bad-verify-report', `propagated errors of a report: ${lines.join('; ')}`, {
    details: lines,
    help: '`verify` writes it; run it again with this version',
  });
}
