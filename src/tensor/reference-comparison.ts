/** Comparisons of tensors with references, merged over samples, and the moments of the references. */
import {
  type Comparison,
  compareArrays,
  type Moments,
  mergeComparisons,
  mergeMoments,
  momentsOf,
  NO_COMPARISON,
  NO_MOMENTS,
} from './compare.js';

export interface ReferenceComparison {
  readonly comparison: Comparison;
  readonly moments: Moments;
}

export const NOTHING_COMPARED: ReferenceComparison = { comparison: NO_COMPARISON, moments: NO_MOMENTS };

/** Adds one sample. @throws RangeError if the lengths differ. */
export function addSample(
  { comparison, moments }: ReferenceComparison,
  reference: ArrayLike<number>,
  candidate: ArrayLike<number>,
): ReferenceComparison {
  return {
    comparison: mergeComparisons(comparison, compareArrays(reference, candidate)),
    moments: mergeMoments(moments, momentsOf(reference)),
  };
}
