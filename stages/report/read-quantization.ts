/** Reads the parts of a `quantize` report that the page needs. */
import type { JsonObject } from '../../src/base/json.js';
import { isJsonObject } from '../../src/base/json.js';
import { anyList, anyText, integer, type JsonReader, maybe, number, someFields, text } from '../../src/base/json-shape.js';
import { parserOf } from './entries.js';

export interface QuantizationView {
  readonly scheme: JsonObject;
  readonly samples: number;
  readonly activations: readonly ActivationView[];
  readonly weights: readonly WeightView[];
  readonly inFloat: readonly { readonly node: string; readonly opType: string; readonly reason: string }[];
}

export interface ActivationView {
  readonly name: string;
  readonly method: string;
  readonly range: readonly number[];
  readonly dtype: string;
  readonly scale: number;
  readonly zeroPoint: number;
  readonly sharedWith?: string;
  /** What calibration saw; absent where nothing is known of the value itself. */
  readonly dataRange?: readonly number[];
  readonly saturationShare?: number;
  /** Of quantizing this value alone; null: nothing is lost. */
  readonly sqnrDb?: number | null;
}

export interface WeightView {
  readonly name: string;
  readonly dtype: string;
  readonly sqnrDb: number | null;
}

const decibel: JsonReader<number | null> = (value, path, problems) => (value === null ? null : number()(value, path, problems));
const pair: JsonReader<readonly number[]> = (value, path, problems) => {
  const numbers = anyList(number())(value, path, problems);
  if (numbers !== undefined && numbers.length !== 2) problems.push({ path, message: 'should be two numbers' });
  return numbers;
};
const object: JsonReader<JsonObject> = (value, path, problems) => {
  if (isJsonObject(value)) return value;
  problems.push({ path, message: 'should be an object' });
  return undefined;
};

/** @throws StageError `report-input`. */
export const parseQuantization = parserOf(
  someFields<QuantizationView>({
    scheme: object,
    samples: integer(0),
    activations: anyList(
      someFields<ActivationView>({
        name: text(),
        method: text(),
        range: pair,
        dtype: text(),
        scale: number({ above: 0 }),
        zeroPoint: integer(-(2 ** 31)),
        sharedWith: maybe(text()) as JsonReader<string>,
        dataRange: maybe(pair) as JsonReader<readonly number[]>,
        saturationShare: maybe(number({ min: 0, max: 1 })) as JsonReader<number>,
        sqnrDb: maybe(decibel) as JsonReader<number | null>,
      }),
    ),
    weights: anyList(someFields<WeightView>({ name: text(), dtype: text(), sqnrDb: decibel })),
    inFloat: anyList(someFields<QuantizationView['inFloat'][number]>({ node: anyText(), opType: text(), reason: text() })),
  }),
  'quantize',
);
