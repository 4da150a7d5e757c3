/** Separate mask scores, which rank masks but not boxes. */
import type { Json } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { evaluateCoco } from '../../../../src/detection/coco/evaluate.js';
import { encodeCocoResults, parseCocoResults } from '../../../../src/detection/coco/results.js';
import { failureOf } from '../../../support/error-code.js';

const square = (x: number): Json => [[x, 1, x + 2, 1, x + 2, 3, x, 3]];

const truth = parseCocoDataset({
  images: [{ id: 5, width: 12, height: 6, file_name: '5.jpg' }],
  categories: [{ id: 2, name: 'ring' }],
  annotations: [{ id: 1, image_id: 5, category_id: 2, iscrowd: 0, area: 4, bbox: [1, 1, 2, 2], segmentation: square(1) }],
});

/** The first is the object; the second is something else. */
const right = { image_id: 5, category_id: 2, score: 0.9, bbox: [1, 1, 2, 2], segmentation: square(1) };
const wrong = { image_id: 5, category_id: 2, score: 0.8, bbox: [7, 1, 2, 2], segmentation: square(7) };

describe('a result with a mask score', () => {
  it('is ranked by its mask score for masks, and by its score for boxes', () => {
    const results = parseCocoResults(
      [
        { ...right, mask_score: 0.3 },
        { ...wrong, mask_score: 0.4 },
      ],
      truth,
    );
    expect(evaluateCoco(truth, results, 'bbox').AP).toBeCloseTo(1, 12);
    expect(evaluateCoco(truth, results, 'segm').AP).toBeCloseTo(0.5, 12);
  });

  it('uses the area of its mask for masks, as in a file with masks only', () => {
    const box = [0, 0, 40, 40];
    const large = { ...wrong, bbox: box, mask_score: 0.95 };
    // A false mask of 4 pixels is small however large its box is: it costs precision among the small ones.
    const own = evaluateCoco(truth, parseCocoResults([{ ...right, mask_score: 0.3 }, large], truth), 'segm');
    expect(own.APsmall).toBeCloseTo(0.5, 12);
    const shared = evaluateCoco(truth, parseCocoResults([right, { ...wrong, bbox: box, score: 0.95 }], truth), 'segm');
    expect(shared.APsmall).toBeCloseTo(1, 12);
  });

  it('is written as it was read, and others have no such member', () => {
    const text = encodeCocoResults(
      parseCocoResults(
        [
          { ...right, mask_score: 0.25 },
          { ...wrong, segmentation: square(7) },
        ],
        truth,
      ),
    );
    expect(JSON.parse(text)).toEqual([{ ...right, mask_score: 0.25 }, wrong]);
  });

  it('that is no number is refused', async () => {
    const error = await failureOf(() => parseCocoResults([{ ...right, mask_score: 'high' }], truth));
    expect(error).toMatchObject({ code: 'coco-field', message: 'result 0.mask_score should be a number, it is "high"' });
  });
});
