/** The report of `correct-biases`, and its lines in the log. */
import type { JsonObject } from '../../src/base/json.js';
import type { LayerCorrection } from '../../src/quant/recovery/layer-correction.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { toDb } from '../../src/quant/weights/weights.js';

/** SQNR in dB per output; null without error. */
export type OutputSqnr = Readonly<Record<string, number | null>>;

export interface Corrections {
  readonly corrections: readonly LayerCorrection[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportCorrections({ corrections, skipped, samples, outputs }: Corrections): JsonObject {
  return {
    format: 'tanren-bias-corrections/1',
    samples,
    corrected: corrections.filter(({ result }) => result === 'corrected').length,
    outputs: Object.entries(outputs.before).map(([name, before]) => ({ name, sqnrDb: { before, after: outputs.after[name] ?? null } })),
    layers: corrections.map(({ node, result, meanError, signal, noise, saturated }) => ({
      node,
      result,
      meanError: { ...meanError },
      sqnrDb: { before: finite(toDb(signal, noise.before)), after: finite(toDb(signal, noise.after)) },
      saturated,
    })),
    skipped: skipped.map(layer => ({ ...layer })),
  };
}

function finite(x: number): number | null {
  return Number.isFinite(x) ? x : null;
}

/** What the correction brought, one line per output; a warning for each output that became worse. */
export function summarizeCorrections({ corrections, skipped, outputs }: Corrections): readonly (readonly ['info' | 'warning', string])[] {
  const corrected = corrections.filter(({ result }) => result === 'corrected').length;
  const counts = `corrected the biases of ${corrected} of ${corrections.length + skipped.length} layers`;
  const worse = Object.entries(outputs.before).filter(([name, before]) => toNumber(outputs.after[name]) < toNumber(before));
  return [
    ['info', counts],
    ...Object.entries(outputs.before).map(
      ([name, before]) => ['info', `output "${name}": SQNR ${formatDb(before)} before, ${formatDb(outputs.after[name])} after`] as const,
    ),
    ...worse.map(
      ([name, before]) =>
        [
          'warning',
          `output "${name}" has an SQNR of ${formatDb(outputs.after[name])} after the correction, and ${formatDb(before)} before: use more samples, or the model without it`,
        ] as const,
    ),
  ];
}

function toNumber(sqnrDb: number | null | undefined): number {
  return sqnrDb ?? Number.POSITIVE_INFINITY;
}

function formatDb(sqnrDb: number | null | undefined): string {
  return sqnrDb === null || sqnrDb === undefined ? 'without error' : `${sqnrDb.toFixed(1)} dB`;
}
