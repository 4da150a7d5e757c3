/** The results of `verify` over all images or samples. */
import type { DetectionComparison } from '../../src/detection/compare/compare-detections.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';

export interface Summary {
  readonly values: ReadonlyMap<string, ComparisonFigures>;
  /** Values of which all elements of the candidate are equal, and those of the reference are not, with the number that they equal. */
  readonly constants: ReadonlyMap<string, number>;
  /** Values without figures, because their shapes differ by what each side selects: these shapes, in words. */
  readonly differing: ReadonlyMap<string, string>;
  /** undefined if only one part is compared. */
  readonly detections: DetectionComparison | undefined;
}
