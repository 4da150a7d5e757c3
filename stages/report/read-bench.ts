/** Reads the parts of a `bench` report that the page needs. */
import type { JsonObject } from '../../src/base/json.js';
import { isJsonObject } from '../../src/base/json.js';
import { anyList, integer, type JsonReader, literal, maybe, number, someFields, text } from '../../src/base/json-shape.js';
import { parserOf } from './entries.js';

/** Everything in it is measured. */
export interface BenchView {
  readonly where: JsonObject;
  readonly warmup: number;
  readonly repeats: number;
  readonly parts: readonly BenchPart[];
}

export interface BenchPart {
  readonly part: string;
  readonly fed: string;
  /** Row counts that were timed; empty where the batch is fixed. */
  readonly counts: readonly { readonly rows: number; readonly images: number }[];
  readonly forms: readonly BenchForm[];
  readonly speedup?: number;
}

export interface BenchForm {
  readonly form: string;
  readonly rows: readonly BenchRow[];
  /** Index of the fastest row. */
  readonly best: number;
  readonly profile?: { readonly operators: readonly { readonly opType: string; readonly meanMs: number }[] };
}

export interface BenchRow {
  readonly strategy: BenchStrategy;
  readonly counts: readonly {
    readonly calls: number;
    /** Rows of zeros that were computed. */
    readonly padded: number;
    readonly here: LatencyView;
    readonly device?: LatencyView;
  }[];
  readonly perImageMs: number;
}

export interface BenchStrategy {
  readonly kind: string;
  readonly batch?: number;
  readonly sessions?: number;
}

export interface LatencyView {
  readonly minMs: number;
  readonly meanMs: number;
  readonly stdMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
}

const ms = number({ min: 0 });
const latency = someFields<LatencyView>({ minMs: ms, meanMs: ms, stdMs: ms, p50Ms: ms, p90Ms: ms, p99Ms: ms });
const optionalNumber = maybe(number()) as JsonReader<number>;
const object: JsonReader<JsonObject> = (value, path, problems) => {
  if (isJsonObject(value)) return value;
  problems.push({ path, message: 'should be an object' });
  return undefined;
};

const form = someFields<BenchForm>({
  form: text(),
  rows: anyList(
    someFields<BenchRow>({
      strategy: someFields<BenchStrategy>({ kind: text(), batch: optionalNumber, sessions: optionalNumber }),
      counts: anyList(
        someFields<BenchRow['counts'][number]>({
          calls: integer(0),
          padded: integer(0),
          here: latency,
          device: maybe(latency) as JsonReader<LatencyView>,
        }),
      ),
      perImageMs: ms,
    }),
  ),
  best: integer(0),
  profile: maybe(
    someFields<NonNullable<BenchForm['profile']>>({
      operators: anyList(someFields<NonNullable<BenchForm['profile']>['operators'][number]>({ opType: text(), meanMs: ms })),
    }),
  ) as JsonReader<NonNullable<BenchForm['profile']>>,
});

/** @throws StageError `report-input`. */
export const parseBench = parserOf(
  someFields<BenchView & { readonly format: string }>({
    format: literal('tanren-bench/1'),
    where: object,
    warmup: integer(0),
    repeats: integer(0),
    parts: anyList(
      someFields<BenchPart>({
        part: text(),
        fed: text(),
        counts: anyList(someFields<BenchPart['counts'][number]>({ rows: integer(0), images: integer(0) })),
        forms: anyList(form),
        speedup: optionalNumber,
      }),
    ),
  }),
  'bench',
);
