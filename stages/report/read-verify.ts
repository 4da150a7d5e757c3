/** Reads the parts of a `verify` report that the page needs. */
import { type Figure, readFigure } from '../../src/base/figure.js';
import { isJsonObject, type Json } from '../../src/base/json.js';
import { anyList, anyText, integer, type JsonReader, maybe, number, record, someFields } from '../../src/base/json-shape.js';
import { findPropagatedErrors, type PartErrors } from '../../src/quant/compare/propagated-error.js';
import { parserOf } from './entries.js';

export interface VerifyView {
  readonly values: Readonly<Record<string, ValueFigures>>;
  readonly detections?: DetectionFigures;
  readonly missedThresholds: readonly string[];
  /** Of every value inside the models, where they were compared. */
  readonly propagated: readonly PartErrors[];
}

export interface ValueFigures {
  readonly maxAbs: number;
  readonly cosine: number;
  readonly sqnrDb: Figure;
}

export interface DetectionFigures {
  readonly reference: number;
  readonly candidate: number;
  readonly matched: number;
  readonly missed: number;
  readonly extra: number;
  readonly maxScoreDifference: number;
  readonly meanBoxIou: number;
  readonly meanMaskIou: number;
}

const parse = parserOf(
  someFields<Omit<VerifyView, 'propagated'>>({
    values: record(someFields<ValueFigures>({ maxAbs: number({ min: 0 }), cosine: number(), sqnrDb: readFigure }), () => undefined),
    detections: maybe(
      someFields<DetectionFigures>({
        reference: integer(0),
        candidate: integer(0),
        matched: integer(0),
        missed: integer(0),
        extra: integer(0),
        maxScoreDifference: number(),
        meanBoxIou: number(),
        meanMaskIou: number(),
      }),
    ) as JsonReader<DetectionFigures>,
    missedThresholds: anyList(anyText()),
  }),
  'verify',
);

/** @throws StageError `report-input`, QuantError `bad-verify-report`. */
export function parseVerify(value: Json): VerifyView {
  const view = parse(isJsonObject(value) ? { values: {}, missedThresholds: [], ...value } : value);
  return { ...view, propagated: findPropagatedErrors(value) ?? [] };
}
