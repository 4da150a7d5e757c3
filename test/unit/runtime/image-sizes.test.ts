/** Sizes of images at which models with free heights and widths run. */
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { type FoundImageSize, findImageSize } from '../../../src/runtime/feeds/image-sizes.js';
import type { ImageSides } from '../../../src/runtime/feeds/random-feeds.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]> g';

/** Patches of one channel as tokens, to which positions are added. */
const patches = (
  side: number,
  tokens: number,
  kernel = side,
  attributes = '',
): string => `${HEAD} (float[N, 3, H, W] x) => (float[N, t, c] y)
  <float[2, 3, ${kernel}, ${kernel}] w, float[1, ${tokens}, 2] positions, int64[3] flat = {0, 2, -1}> {
  p = Conv<strides = [${side}, ${side}]${attributes}>(x, w)  f = Reshape(p, flat)  t = Transpose<perm = [0, 2, 1]>(f)  y = Add(t, positions) }`;

/** A layer that takes all pixels of one size. */
const flattened = (elements: number): string => `${HEAD} (float[N, 3, H, W] x) => (float[N, 5] y) <float[${elements}, 5] w> {
  f = Flatten(x)  y = MatMul(f, w) }`;

const find = (
  text: string,
  others: 'squares' | 'none' = 'squares',
  first: readonly ImageSides[] = [[640, 640]],
): Promise<FoundImageSize> => {
  const model = parseModelText(
    text.replaceAll(
      /(float\[[\d, ]+\]) (w|positions)(?=[,>])/g,
      (_all, type: string, name: string) => `${type} ${name} = {${zeros(type)}}`,
    ),
  );
  return findImageSize(model, encodeModel(model), { first, others });
};

/** As many zeros as a tensor of this type has elements. */
function zeros(type: string): string {
  const dims = (type.match(/\d+/g) ?? []).map(Number);
  return Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, () => 0).join(', ');
}

describe('a size of images', () => {
  it.each<[string, string, ImageSides, readonly number[]]>([
    [
      'the first, if the model takes any',
      `${HEAD} (float[N, 3, H, W] x) => (float[N, 3, H, W] y) { y = Relu(x) }`,
      [640, 640],
      [1, 3, 640, 640],
    ],
    ['one without a batch', `${HEAD} (float[3, H, W] x) => (float[3, H, W] y) { y = Relu(x) }`, [640, 640], [3, 640, 640]],
    ['as many patches as positions, of a side that is not usual', patches(12, 400), [240, 240], [1, 400, 2]],
    [
      'as many patches as positions, with the side of a patch stated',
      patches(12, 400, 12, ', kernel_shape = [12, 12]'),
      [240, 240],
      [1, 400, 2],
    ],
    ['as many pixels as weights, of a usual side', flattened(3 * 32 * 32), [32, 32], [1, 5]],
  ])('is found: %s', async (_what, text, size, dims) => {
    const found = await find(text);
    expect(found).toEqual({ kind: 'found', size, outputs: new Map([['y', dims]]) });
  });

  it('is not found where it is no square, and the first failure is told', async () => {
    const found = await find(flattened(3 * 30 * 40));
    expect(found).toMatchObject({
      kind: 'none',
      tried: expect.arrayContaining([
        [640, 640],
        [224, 224],
      ]),
    });
    expect(found.kind === 'none' && found.reason).toContain('MatMul');
    expect(await find(flattened(3 * 30 * 40), 'none', [[30, 40]])).toMatchObject({ kind: 'found', size: [30, 40] });
  });

  it.each([
    ['patches that overlap', patches(4, 400, 7), 80],
    ['patches with gaps', patches(4, 400, 3), 80],
    ['patches that overlap, by their attribute', patches(4, 400, 7, ', kernel_shape = [7, 7]'), 80],
    ['an image that would take gigabytes', patches(64, 900), 1920],
  ])('is not drawn from %s', async (_what, text, side) => {
    const found = await find(text);
    expect(found.kind === 'found' ? [found.size] : found.tried).not.toContainEqual([side, side]);
  });

  it('of others is not tried where one is given', async () => {
    expect(await find(flattened(3 * 32 * 32), 'none')).toMatchObject({ kind: 'none', tried: [[640, 640]] });
  });
});
