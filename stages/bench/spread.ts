/** How far the repeats of a measurement lie apart: figures that differ by less are not told apart. */
import type { JsonObject } from '../../src/base/json.js';
import type { FormReport, PartReport, StrategyReport } from '../../src/runtime/measure/bench-report.js';
import type { LatencySummary } from '../../src/runtime/measure/latency.js';
import { referenceOf } from './bench-report.js';
import { meanOverImages } from './row-counts.js';

/** The larger distance from the median: to the smallest repeat, or to the 90th percentile; 0 for one repeat. */
export function spreadOf({ minMs, p50Ms, p90Ms }: LatencySummary): number {
  return Math.max(p50Ms - minMs, p90Ms - p50Ms);
}

/** By the paths of the metrics. Means over images and sums of parts have those of their spreads, as if all erred to one side; a ratio adds the shares. */
export function makeSpread(parts: readonly PartReport[]): JsonObject {
  const byPart = parts.map(part => [part.part, spreadOfPart(part)] as const);
  const total = (['float', 'int8'] as const).flatMap(form => {
    const spreads = parts.map(part =>
      bestSpread(
        part,
        part.forms.find(one => one.form === form),
      ),
    );
    return spreads.every(spread => spread !== undefined) ? [[`${form}Ms`, spreads.reduce((sum, spread) => sum + spread, 0)]] : [];
  });
  return {
    ...Object.fromEntries(byPart),
    ...(total.length === 0 || 'total' in Object.fromEntries(byPart) ? {} : { total: Object.fromEntries(total) }),
  };
}

function spreadOfPart(part: PartReport): JsonObject {
  const { forms, counts, speedup } = part;
  const shares = forms.map(form => {
    const summary = referenceOf(form);
    return summary === undefined || summary.p50Ms === 0 ? 0 : spreadOf(summary) / summary.p50Ms;
  });
  return {
    ...Object.fromEntries(forms.map(form => [`${form.form}Ms`, spreadOfReference(form)])),
    ...(speedup === undefined ? {} : { speedup: speedup * shares.reduce((sum, share) => sum + share, 0) }),
    ...(counts.length === 0 ? {} : Object.fromEntries(forms.map(form => [`${form.form}BestMs`, bestSpread(part, form) ?? 0]))),
  };
}

function spreadOfReference(form: FormReport): number {
  const summary = referenceOf(form);
  return summary === undefined ? 0 : spreadOf(summary);
}

/** Of the fastest strategy, averaged like its time per image. */
function bestSpread({ counts }: PartReport, form: FormReport | undefined): number | undefined {
  const row: StrategyReport | undefined = form?.rows[form.best];
  if (row === undefined) return undefined;
  const weights = counts.length === 0 ? [{ rows: 1, images: 1 }] : counts;
  return meanOverImages(weights, index => {
    const count = row.counts[index];
    const summary = count?.device ?? count?.here;
    return summary === undefined ? 0 : spreadOf(summary);
  });
}

/** A share of the median beyond which repeats were likely disturbed by other programs. */
const DISTURBED = 0.3;

/** A warning for each part whose repeats lie far apart. */
export function describeDisturbed(parts: readonly PartReport[]): readonly string[] {
  return parts.flatMap(({ part, forms }) =>
    forms.flatMap(form => {
      const summary = referenceOf(form);
      if (summary === undefined || spreadOf(summary) <= DISTURBED * summary.p50Ms) return [];
      const share = Math.round((100 * spreadOf(summary)) / summary.p50Ms);
      return [`${part}, ${form.form}: repeats differ by ±${share} %, likely because other programs ran; build --force measures again`];
    }),
  );
}
