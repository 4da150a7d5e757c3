/** The results of `verify` over all images or samples. */
import type { DetectionComparison } from '../../src/detection/compare/compare-detections.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';

export interface Summary {
  readonly values: ReadonlyMap<string, ComparisonFigures>;
  /** Values of which all elements of the candidate are equal, and those of the reference are not, with the number that they equal. */
  readonly constants: ReadonlyMap<string, number>;
  /** undefined if only one part is compared. */
  readonly detections: DetectionComparison | undefined;
}
