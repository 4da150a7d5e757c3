/** Pasted masks against recorded masks of torchvision, for three images. */
import { join } from 'node:path';
import { sigmoid } from '../../../src/detection/detector/activations.js';
import { pasteMask } from '../../../src/detection/masks/paste-mask.js';
import { decodeMask } from '../../../src/detection/masks/rle.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { maxDifference } from '../../support/max-difference.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();

(shared === undefined ? describe.skip : describe)('mask paste', () => {
  it.each([1000, 1007, 1014])('image %i: every recorded mask pixel is met', async id => {
    const arrays = await readNpz(join(shared ?? '', `shapes/maskrcnn/stages_${id}.npz`));
    const { data } = arrays.getFloat32('mask_probs');
    const boxes = arrays.getFloat32('final_boxes').data;
    const recorded = arrays.get('final_masks').data as Uint8Array;
    const area = 192 * 256;
    let different = 0;
    for (let i = 0; i < boxes.length / 4; i++) {
      const probabilities = data.subarray(i * 784, (i + 1) * 784);
      const pasted = pasteMask(probabilities, boxes.subarray(4 * i, 4 * i + 4), {
        size: 28,
        threshold: 0.5,
        image: { height: 192, width: 256 },
      });
      decodeMask(pasted).forEach((value, pixel) => {
        if (value !== recorded[i * area + pixel]) different++;
      });
    }
    expect(recorded.length).toBeGreaterThan(0);
    expect(different).toBe(0);
  });

  it.each([1000, 1007, 1014])('image %i: probabilities are the sigmoid of each label’s logits', async id => {
    const arrays = await readNpz(join(shared ?? '', `shapes/maskrcnn/stages_${id}.npz`));
    const logits = arrays.getFloat32('mask_logits').data;
    const labels = arrays.get('labels').data as BigInt64Array;
    const chosen = Array.from(labels, (label, i) => logits.subarray((i * 12 + Number(label)) * 784, (i * 12 + Number(label) + 1) * 784));
    const expected = arrays.getFloat32('mask_probs').data;
    // One rounding of exp in float32.
    const differences = chosen.map((values, i) => maxDifference(sigmoid(values), expected.subarray(i * 784, (i + 1) * 784)));
    expect(Math.max(...differences)).toBeLessThan(2e-7);
  });
});
