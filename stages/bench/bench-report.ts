/** The report and metrics of `bench`: every variant with its latency, and the fastest one. */
import type { JsonObject } from '../../src/base/json.js';
import type { Placement } from '../../src/runtime/device/runner-identity.js';
import {
  type BenchReport,
  describeStrategy,
  type Form,
  type FormReport,
  type PartReport,
  type StrategyReport,
} from '../../src/runtime/measure/bench-report.js';
import { type LatencySummary, summarizeLatency } from '../../src/runtime/measure/latency.js';
import type { ModelProfile } from '../../src/runtime/measure/profile.js';
import type { PartFeeds } from './feeds.js';
import { meanOverImages, type RowCount } from './row-counts.js';
import type { Timing, Variant } from './variants.js';

export interface TimedVariant {
  readonly variant: Variant;
  readonly timings: readonly Timing[];
}

export function reportForm(
  form: Form,
  timed: readonly TimedVariant[],
  counts: readonly RowCount[] | undefined,
  { profile, placement }: { readonly profile: ModelProfile | undefined; readonly placement: Placement | undefined },
): FormReport {
  const groups = new Map<string, TimedVariant[]>();
  for (const one of timed) {
    const key = JSON.stringify(one.variant.strategy);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const rows = [...groups.values()].map(group => reportStrategy(group, counts ?? [{ rows: 1, images: 1 }]));
  const bestAt = (counts ?? [{}]).map((_, index) => findLeast(rows.map(row => p50Of(row.counts[index]))));
  return {
    form,
    rows,
    best: findLeast(rows.map(({ perImageMs }) => perImageMs)),
    bestAt,
    ...(placement === undefined ? {} : { placement }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** Index of the smallest figure; the first of equal ones. */
function findLeast(figures: readonly number[]): number {
  return figures.indexOf(Math.min(...figures));
}

/** By the clock of the device if there is one. */
function p50Of(count: StrategyReport['counts'][number] | undefined): number {
  return (count?.device ?? count?.here)?.p50Ms ?? 0;
}

/** @param group one entry per row count, in their order. */
function reportStrategy(group: readonly TimedVariant[], weights: readonly RowCount[]): StrategyReport {
  const counts = group.map(({ variant: { calls, padded }, timings }) => {
    const device = timings.flatMap(({ deviceMs }) => (deviceMs === undefined ? [] : [deviceMs]));
    const here = summarizeLatency(timings.map(({ hereMs }) => hereMs));
    return { calls, padded, here, ...(device.length === 0 ? {} : { device: summarizeLatency(device) }) };
  });
  const perImageMs = meanOverImages(weights, index => p50Of(counts[index]));
  return { strategy: group[0]?.variant.strategy ?? { kind: 'whole' }, counts, perImageMs };
}

export function reportPart(part: string, feeds: PartFeeds, forms: readonly FormReport[]): PartReport {
  const [float, int8] = (['float', 'int8'] as const).map(form => forms.find(one => one.form === form));
  const times = [float, int8].map(form => (form === undefined ? undefined : referenceOf(form)?.p50Ms));
  const [floatMs, int8Ms] = times;
  return {
    part,
    fed: feeds.from,
    counts: (feeds.counts ?? []).map(({ rows, images }) => ({ rows, images })),
    imagesWithout: feeds.imagesWithout,
    forms,
    ...(floatMs === undefined || int8Ms === undefined || int8Ms === 0 ? {} : { speedup: floatMs / int8Ms }),
  };
}

/** The first strategy (whole, or one batch) at the middle row count, which gives a part's main figures. */
export function referenceOf({ rows }: FormReport): LatencySummary | undefined {
  const counts = rows[0]?.counts ?? [];
  const middle = counts[counts.length >> 1];
  return middle?.device ?? middle?.here;
}

/**
 * Per part: `floatMs` and `int8Ms`, p50 of the whole model, or of one batch at the middle row count; for heads `floatBestMs` and `int8BestMs`, means over the
 * images with the fastest strategy; `speedup`; and all figures under `float` and `int8`. In `total`, `floatMs` and `int8Ms` of all parts of an image, each in
 * its fastest way, for a form that every part has.
 */
export function metricsOf({ parts }: BenchReport): JsonObject {
  const total = Object.fromEntries((['float', 'int8'] as const).flatMap(form => totalOf(parts, form)));
  const byPart = Object.fromEntries(
    parts.map(({ part, forms, counts, speedup }) => [
      part,
      {
        ...Object.fromEntries(forms.map(form => [`${form.form}Ms`, referenceOf(form)?.p50Ms ?? 0])),
        ...(speedup === undefined ? {} : { speedup }),
        ...(counts.length === 0
          ? {}
          : Object.fromEntries(forms.map(form => [`${form.form}BestMs`, form.rows[form.best]?.perImageMs ?? 0]))),
        ...Object.fromEntries(forms.map(form => [form.form, figuresOf(form)])),
      },
    ]),
  );
  return 'total' in byPart || Object.keys(total).length === 0 ? byPart : { ...byPart, total };
}

/** Undefined figures of a part that lacks the form give no total. */
function totalOf(parts: readonly PartReport[], form: Form): readonly (readonly [string, number])[] {
  const times = parts.map(({ forms }) => {
    const found = forms.find(one => one.form === form);
    return found?.rows[found.best]?.perImageMs;
  });
  return times.every(time => time !== undefined) ? [[`${form}Ms`, times.reduce((sum, time) => sum + time, 0)]] : [];
}

/** For the log: the fastest strategy of each head. */
export function describeBest({ parts }: BenchReport): readonly string[] {
  return parts.flatMap(({ part, counts, forms }) =>
    counts.length === 0 ? [] : forms.flatMap(({ form, rows, best }) => describeFastest(`${part}, ${form}`, rows[best])),
  );
}

function describeFastest(what: string, row: StrategyReport | undefined): readonly string[] {
  return row === undefined ? [] : [`${what}: fastest ${describeStrategy(row.strategy)}, ${row.perImageMs.toFixed(2)} ms per image`];
}

function figuresOf(form: FormReport): JsonObject {
  const { repeats: _repeats, ...figures } = referenceOf(form) ?? { repeats: 0 };
  return figures;
}
