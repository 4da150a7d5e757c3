/** The host of Mask Scoring R-CNN on the example's trained network: input of the MaskIoU head, and ranking of masks. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../../../../src/base/json.js';
import type { Detector, ImageTrace } from '../../../../../src/detection/detector/detector.js';
import { makeCocoResults } from '../../../../../src/detection/detector/object-results.js';
import { decodeImage, type RgbImage } from '../../../../../src/detection/image/decode-image.js';
import { parseRecipe } from '../../../../../src/detection/read-definition.js';
import { compareArrays } from '../../../../../src/tensor/compare.js';
import { failureOf } from '../../../../support/error-code.js';
import { exportScoringShapes, openScoringShapes, openShapes, readShapesConfig, SHAPES_FOLDER } from '../../../../support/shapes.js';

let detector: Detector;
let image: RgbImage;
let trace: ImageTrace;

beforeAll(async () => {
  detector = await openScoringShapes();
  image = await decodeImage(await readFile(join(SHAPES_FOLDER, 'data/val/000000001007.jpg')), 'image');
  trace = await detector.trace(image);
});
afterAll(() => detector.close());

describe('a detector that scores its masks', () => {
  it('runs four parts, the last on input and output of the third', () => {
    expect(detector.parts.map(({ name }) => name)).toEqual(['backbone', 'box_head', 'mask_head', 'maskiou_head']);
    const { mask_head, maskiou_head } = trace.inputs;
    expect(maskiou_head?.maskiou_features).toBe(mask_head?.mask_features);
    const objects = trace.objects.scores.length;
    expect(objects).toBeGreaterThan(10);
    expect(maskiou_head?.mask_probability?.dims).toEqual([objects, 1, 14, 14]);
    expect(trace.outputs.maskiou_head?.mask_iou?.dims).toEqual([objects, 12]);
  });

  it('finds the objects, boxes, scores and masks that Mask R-CNN finds', async () => {
    const plain = await openShapes();
    const { objects } = await plain.trace(image);
    await plain.close();
    const { maskScores, ...found } = trace.objects;
    expect(found).toEqual(objects);
    expect(maskScores).not.toEqual(objects.scores);
  });

  it('multiplies each score by the IoU of its class, and writes both', () => {
    const { scores, labels } = trace.objects;
    const ious = trace.outputs.maskiou_head?.mask_iou?.data ?? new Float32Array();
    const expected = Array.from(scores, (score, index) => Math.fround(score * (ious[12 * index + (labels[index] ?? 0)] ?? 0)));
    expect([...(trace.objects.maskScores ?? [])]).toEqual(expected);
    expect(makeCocoResults(1007, trace.objects).map(({ score, maskScore }) => [score, maskScore])).toEqual(
      expected.map((maskScore, index) => [scores[index], maskScore]),
    );
  });

  it('gives the inputs of all parts without running the last', async () => {
    expect(await detector.findInputs(image)).toEqual(trace.inputs);
  });

  it('finds the same with a fixed batch, and with the mask concatenated', async () => {
    for (const options of [{ roiBatch: 4 }, { maskInput: 'concat' }] as const) {
      const other = await openScoringShapes(options);
      const { objects } = await other.trace(image);
      await other.close();
      // Another batch size or order of sums: the last bits differ.
      expect(compareArrays(objects.maskScores ?? new Float32Array(), trace.objects.maskScores ?? new Float32Array()).maxAbs).toBeLessThan(
        1e-5,
      );
    }
  });

  it('scores nothing if there are no detections', async () => {
    const config = await readShapesConfig();
    const strict = await openScoringShapes({ config: { ...config, box: { ...config.box, scoreThreshold: 1 } } });
    const { objects, outputs } = await strict.trace(image);
    await strict.close();
    expect(objects.maskScores).toEqual(new Float32Array(0));
    expect(outputs.maskiou_head?.mask_iou?.dims).toEqual([0, 12]);
  });
});

describe('its recipe', () => {
  it('is read as it was written, and without its fourth part refused', async () => {
    const { recipe } = await exportScoringShapes();
    const written = JSON.parse(JSON.stringify(recipe)) as { maskIouHead?: Json };
    expect(parseRecipe(written as Json)).toEqual(recipe);
    const { maskIouHead: _, ...rest } = written;
    expect(await failureOf(() => parseRecipe(rest as Json))).toMatchObject({
      code: 'bad-recipe',
      message: expect.stringContaining('maskIouHead: should be an object, it is missing'),
    });
  });
});
