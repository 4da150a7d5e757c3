/** Proposals of an image in a larger padded input, compared with those of the image alone. */
import { exportMaskRcnn } from '../../../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import { findProposals } from '../../../../../src/detection/families/maskrcnn/proposals.js';
import type { MaskRcnnRecipe } from '../../../../../src/detection/families/maskrcnn/recipe.js';
import { makeTensor, type Tensor } from '../../../../../src/tensor/tensor.js';
import { generatedInput } from '../../../../support/generated-weights.js';
import { TINY_CONFIG, TINY_V2, tinyState } from '../../../../support/tiny-maskrcnn.js';

const recipeFor = (height: number, width: number): MaskRcnnRecipe =>
  exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, {
    height,
    width,
    roiBatch: { box: 'free', mask: 'free' },
    fit: 'torchvision',
    frozenEpsilon: undefined,
  }).recipe;

/** The maps in the upper left corner of larger ones that say "here is an object" everywhere else. */
function embed(map: Tensor<'float32'>, height: number, width: number): Tensor<'float32'> {
  const [, channels = 0, rows = 0, columns = 0] = map.dims;
  const data = new Float32Array(channels * height * width).fill(9);
  for (let row = 0; row < channels * rows; row++) {
    const to = (Math.trunc(row / rows) * height + (row % rows)) * width;
    data.set(map.data.subarray(row * columns, (row + 1) * columns), to);
  }
  return makeTensor('float32', [1, channels, height, width], data);
}

describe('proposals of an image in a larger input', () => {
  it('depend only on the image, not on network outputs in the padding', () => {
    const [own, larger] = [recipeFor(64, 96), recipeFor(160, 128)];
    const maps = (recipe: MaskRcnnRecipe, make: (name: string, channels: number, level: number) => Tensor<'float32'>) =>
      Object.fromEntries(
        recipe.levels.flatMap(({ objectness, deltas }, level) => [
          [objectness, make(objectness, 3, level)],
          [deltas, make(deltas, 12, level)],
        ]),
      );
    const alone = maps(own, (name, channels, level) => {
      const { height = 0, width = 0 } = own.levels[level] ?? {};
      return generatedInput(name, [1, channels, height, width]);
    });
    const padded = maps(larger, (name, _, level) => {
      const { height = 0, width = 0 } = larger.levels[level] ?? {};
      return embed(alone[name] as Tensor<'float32'>, height, width);
    });
    const place = { resized: { height: 50, width: 90 }, covered: { height: 64, width: 96 }, padded: { height: 64, width: 96 } };
    const inLarger = { ...place, padded: { height: 160, width: 128 } };
    const wanted = findProposals(alone, place, own, TINY_CONFIG);
    expect(wanted.scores.length).toBeGreaterThan(10);
    expect(findProposals(padded, inLarger, larger, TINY_CONFIG)).toEqual(wanted);
    const everywhere = findProposals(padded, { ...inLarger, covered: { height: 160, width: 128 } }, larger, TINY_CONFIG);
    expect([...everywhere.scores]).not.toEqual([...wanted.scores]);
  });
});
