/** Figures and kinds of error on random data sets, against pycocotools and TIDE. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { splitErrors } from '../../../../src/detection/coco/errors.js';
import { evaluateCoco } from '../../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../../src/detection/coco/figure-names.js';
import { COCO_PARAMS, type CocoParams, type IouType } from '../../../../src/detection/coco/params.js';
import { parseCocoResults } from '../../../../src/detection/coco/results.js';
import { fixturePath } from '../../../support/fixtures.js';
import { maxDifference } from '../../../support/max-difference.js';
import { flattenErrors, flattenTide, type RecordedErrors } from '../../../support/recorded-errors.js';

interface Recorded {
  readonly truth: Json;
  readonly detections: Json;
  readonly maxDetections: readonly number[];
  readonly categories: CocoParams['categories'];
  readonly bbox: { readonly stats: readonly number[]; readonly errors: RecordedErrors };
  readonly segm: { readonly stats: readonly number[]; readonly errors: RecordedErrors };
}

const sets = JSON.parse(gunzipSync(readFileSync(fixturePath('detection', 'random-figures.json.gz'))).toString()) as Recorded[];
const types = ['bbox', 'segm'] as const satisfies readonly IouType[];

describe.each(types)('%s', iouType => {
  it.each(sets.map((set, index) => [index, set] as const))('set %d', (_index, set) => {
    const dataset = parseCocoDataset(set.truth);
    const results = parseCocoResults(set.detections, dataset);
    const { maxDetections, categories } = set;
    const figures = evaluateCoco(dataset, results, iouType, { ...COCO_PARAMS, maxDetections, categories });
    // The same operations in double precision; only the order of the final sums differs.
    expect(
      maxDifference(
        COCO_FIGURE_NAMES.map(name => figures[name]),
        set[iouType].stats,
      ),
    ).toBeLessThan(1e-9);
    expect(maxDifference(flattenErrors(splitErrors(dataset, results, iouType)), flattenTide(set[iouType].errors))).toBeLessThan(1e-9);
  });
});

it('the result is perfect if missed objects were the only errors', () => {
  const { truth } = sets[0] as Recorded;
  const { ap, kinds, falseNegatives } = splitErrors(parseCocoDataset(truth), [], 'bbox');
  expect([ap, kinds.missed.cost, falseNegatives.cost]).toEqual([0, 1, 1]);
});
