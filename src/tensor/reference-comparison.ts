/** Comparisons of tensors with references, merged over samples, and the moments of the references. */
import { type Comparison, compareAndDescribe, type Moments, mergeComparisons, mergeMoments, NO_COMPARISON, NO_MOMENTS } from './compare.js';

export interface ReferenceComparison {
  readonly comparison: Comparison;
  readonly moments: Moments;
}

export const NOTHING_COMPARED: ReferenceComparison = { comparison: NO_COMPARISON, moments: NO_MOMENTS };

/** Of one sample. @throws RangeError if the lengths differ. */
export function compareSample(reference: ArrayLike<number>, candidate: ArrayLike<number>): ReferenceComparison {
  return compareAndDescribe(reference, candidate);
}

/** Adds what `compareSample` gives. The bits of the result depend on the order of samples. */
export function mergeSample(sum: ReferenceComparison, sample: ReferenceComparison): ReferenceComparison {
  return {
    comparison: mergeComparisons(sum.comparison, sample.comparison),
    moments: mergeMoments(sum.moments, sample.moments),
  };
}

/** Adds one sample. @throws RangeError if the lengths differ. */
export function addSample(sum: ReferenceComparison, reference: ArrayLike<number>, candidate: ArrayLike<number>): ReferenceComparison {
  return mergeSample(sum, compareSample(reference, candidate));
}
