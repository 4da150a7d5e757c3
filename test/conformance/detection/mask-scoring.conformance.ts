/** The MaskIoU head of Mask Scoring R-CNN against recorded inputs, outputs, detections and figures of zjhuang22/maskscoring_rcnn's head on torchvision's Mask R-CNN. */

import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import { type CocoFigures, evaluateCoco } from '../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../src/detection/coco/figure-names.js';
import type { IouType } from '../../../src/detection/coco/params.js';
import { parseCocoResults } from '../../../src/detection/coco/results.js';
import { MASKRCNN_PARTS } from '../../../src/detection/families/maskrcnn/part-names.js';
import { poolMasks, scoreMasks } from '../../../src/detection/families/maskscoring/mask-iou.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { relativeError } from '../../support/detector-parts.js';
import { maxDifference } from '../../support/max-difference.js';
import { exportScoringShapes, exportShapes } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder() ?? '';
const suite = shared === '' ? describe.skip : describe;
const recorded = join(shared, 'shapes/mask-scoring');

suite('the MaskIoU head', () => {
  describe.each(['split', 'concat'] as const)('with the mask taken in the form %s', form => {
    let head: Model;
    beforeAll(async () => {
      const { model, recipe } = await exportScoringShapes({ maskInput: form });
      head = extractSubgraph(model, recipe.parts.maskiou_head);
    });

    it.each([1000, 1007, 1014])('gives the IoUs and the scores of the original on image %i', async image => {
      const of = await readNpz(join(recorded, `maskiou_${image}.npz`));
      const pooled = poolMasks({ side: 28, data: of.getFloat32('mask_probs').data });
      const session = await openSession(encodeModel(head), { optimization: 'all' });
      const { mask_iou } = await session.run({ maskiou_features: of.getFloat32('mask_features'), mask_probability: pooled });
      await session.close();
      const ious = mask_iou?.data as Float32Array;
      // The order of float32 sums alone; asked for is 1e-3.
      expect(relativeError(of.getFloat32('mask_iou').data, ious)).toBeLessThan(1e-4);
      const labels = Int32Array.from(of.get('labels').data as BigInt64Array, Number);
      const scores = scoreMasks(of.getFloat32('scores').data, labels, ious, 12);
      expect(maxDifference([...scores], [...of.getFloat32('mask_scores').data])).toBeLessThan(1e-5);
    });
  });

  it('stands beside the very parts of the recorded Mask R-CNN, whose int8 figures so are theirs', async () => {
    const [scoring, plain] = [await exportScoringShapes(), await exportShapes()];
    for (const part of MASKRCNN_PARTS) {
      const [ours, theirs] = [scoring, plain].map(({ model, recipe }) =>
        digestBytes(encodeModel(extractSubgraph(model, recipe.parts[part]))),
      );
      expect(ours).toBe(theirs);
    }
  });

  it('scores recorded IoUs bit for bit', async () => {
    for (const image of [1000, 1007, 1014]) {
      const of = await readNpz(join(recorded, `maskiou_${image}.npz`));
      const labels = Int32Array.from(of.get('labels').data as BigInt64Array, Number);
      const scores = scoreMasks(of.getFloat32('scores').data, labels, of.getFloat32('mask_iou').data, 12);
      expect(scores).toEqual(of.getFloat32('mask_scores').data);
    }
  });
});

suite('figures of detections whose masks have scores of their own', () => {
  it.each(['bbox', 'segm'] as const)('%s: one file gives what pycocotools gave for two', async iouType => {
    const read = (file: string): Promise<Json> => readJsonFile(join(recorded, file));
    const [boxes, masks] = [(await read('boxes_val.json')) as JsonObject[], (await read('masks_val.json')) as JsonObject[]];
    const dataset = parseCocoDataset(await readJsonFile(join(shared, 'shapes/data/instances_val.json')));
    const joined = boxes.map((box, index) => {
      const { score = null, segmentation = null } = masks[index] ?? {};
      return { ...box, segmentation, mask_score: score };
    });
    const figures = evaluateCoco(dataset, parseCocoResults(joined, dataset), iouType);
    const oracle = (await read('figures_val.json')) as unknown as { figures: Record<IouType, CocoFigures> };
    const listed = (of: CocoFigures): number[] => COCO_FIGURE_NAMES.map(name => of[name]);
    expect(maxDifference(listed(figures), listed(oracle.figures[iouType]))).toBeLessThan(1e-9);
  });
});
