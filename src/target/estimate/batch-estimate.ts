/** Compares batch sizes of a model that runs once per RoI: the same RoIs in calls of 1, 4, 8, 16 …, each with an estimate. */
import type { Target } from '../profile/choose-target.js';
import type { BatchEstimate, BatchRow, LatencyEstimate } from '../report/compile-report.js';
import { scaleEstimate } from './estimate.js';
import { estimateCall } from './image-estimate.js';
import type { PlacedWork } from './unit-time.js';

export interface BatchRequest {
  readonly units: readonly PlacedWork[];
  /** The batch size of the compiled model. */
  readonly batch: number;
  readonly rois: BatchEstimate['rois'];
  /** Batch sizes to compare. */
  readonly sizes: readonly number[];
}

/** The batch is fixed, so a last call that is not full costs as much as a full one. */
export function estimateBatches(target: Target, { units, batch, rois, sizes }: BatchRequest): BatchEstimate {
  const rows = sizes.map((size): BatchRow => {
    const perCall = estimateCall(target, units, size / batch);
    const calls = mean(rois.counts.map(count => Math.ceil(count / size)));
    return { batch: size, calls, padded: mean(rois.counts.map(count => Math.ceil(count / size) * size - count)), ...times(perCall, calls) };
  });
  const best = rows.reduce((least, row) => (row.perImage.ms < least.perImage.ms ? row : least));
  return { rois, rows, best: best.batch };
}

function times(perCall: LatencyEstimate, calls: number): Pick<BatchRow, 'perCall' | 'perImage'> {
  return { perCall, perImage: scaleEstimate(perCall, calls) };
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
