/** One RoI per call, or many? For a model that runs once per RoI: the same RoIs in calls of 1, 4, 8, 16 …, each with its estimate. */
import type { Target } from '../profile/choose-target.js';
import type { BatchEstimate, BatchRow, LatencyEstimate } from '../report/compile-report.js';
import type { UnitWork } from '../units/unit-work.js';
import { estimateCalls, estimateUnit, scaleEstimate } from './estimate.js';

export interface BatchQuestion {
  /** Parts of the model that are for the NPU: each is a call. */
  readonly npuParts: number;
  /** Of the units in them. */
  readonly works: readonly UnitWork[];
  /** What the model was compiled with. */
  readonly batch: number;
  readonly rois: BatchEstimate['rois'];
  /** To compare. */
  readonly sizes: readonly number[];
}

/** A last call that is not full runs at full size: the batch is fixed. */
export function estimateBatches(target: Target, { npuParts, works, batch, rois, sizes }: BatchQuestion): BatchEstimate {
  const rows = sizes.map((size): BatchRow => {
    const perCall = estimateCalls(
      target,
      npuParts,
      works.map(work => estimateUnit(target, work, size / batch)),
    );
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
