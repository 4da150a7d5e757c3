/** Preprocessing of images for single models. */
import type { JsonObject } from '../../../../src/base/json.js';
import type { RgbImage } from '../../../../src/detection/image/decode-image.js';
import { preprocessImage } from '../../../../src/detection/image/preprocessing.js';
import type { Preprocessing } from '../../../../src/detection/image/preprocessing-schema.js';
import { PREPROCESSING_SCHEMA } from '../../../../src/detection/image/preprocessing-schema.js';
import { failureOf } from '../../../support/error-code.js';
import { ajvOf } from '../../../support/params-schema.js';

const parse = (params: JsonObject): Preprocessing => ajvOf(PREPROCESSING_SCHEMA)(params) as Preprocessing;

/** Red is 10 · column, green 10 · row, blue 7. */
function ramp(height: number, width: number): RgbImage {
  const data = new Uint8Array(height * width * 3);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) data.set([10 * column, 10 * row, 7], 3 * (row * width + column));
  return { height, width, data };
}

function planes(image: RgbImage, size: readonly [number, number], params: JsonObject): number[][] {
  const { data } = preprocessImage(image, { height: size[0], width: size[1] }, parse({ range: '0..255', ...params })).tensor;
  const area = size[0] * size[1];
  return [0, 1, 2].map(channel => [...data.subarray(channel * area, (channel + 1) * area)]);
}

describe('preprocessing', () => {
  it('without resize, bytes become one plane per channel in the order of `colors`', () => {
    expect(planes(ramp(2, 2), [2, 2], {})).toEqual([
      [0, 10, 0, 10],
      [0, 0, 10, 10],
      [7, 7, 7, 7],
    ]);
    expect(planes(ramp(2, 2), [2, 2], { colors: 'bgr' })[0]).toEqual([7, 7, 7, 7]);
  });

  it('range, mean and std are applied per channel in the order of `colors`, in float32', () => {
    const { fround } = Math;
    const mean = [0.1, 0.2, 0.3];
    const std = [0.5, 0.25, 2];
    const [, , red] = planes(ramp(1, 2), [1, 2], { range: '0..1', colors: 'bgr', mean, std });
    expect(red).toEqual([0, 10].map(byte => fround(fround(fround(byte / 255) - fround(0.3)) / 2)));
  });

  it('stretch: torch.nn.functional.interpolate(mode="bilinear") of [0, 10, 20] to 6 and to 2', () => {
    // PyTorch's documented rule by hand: source = (i + 0.5) · from / to − 0.5, not below 0, ends clamped.
    const line = (to: number) => planes(ramp(1, 3), [1, to], { resize: 'stretch' })[0];
    expect(line(6)).toEqual([0, 2.5, 7.5, 12.5, 17.5, 20]);
    expect(line(2)).toEqual([2.5, 17.5]);
  });

  it('crop: the shorter side is scaled, and the center crop starts at the floor of half the rest', () => {
    // 4 × 7 to shorter side 4: nothing scaled; columns 2 … 4 are (7 − 4 rest 3, floor 1) 1 … 4.
    expect(planes(ramp(4, 7), [4, 4], { resize: 'crop' })[0]?.slice(0, 4)).toEqual([10, 20, 30, 40]);
    // To shorter side 8: 8 × 14, rows from 2, columns from 5; column 5 looks at (5.5 / 2 − 0.5) · 10.
    const [red, green] = planes(ramp(4, 7), [4, 4], { resize: 'crop', shorterSide: 8 });
    expect(red?.slice(0, 4)).toEqual([22.5, 27.5, 32.5, 37.5]);
    expect(green?.[0]).toBe(7.5);
  });

  it('pad: the scaled image is in the upper left corner, and the filled rest is normalized too', () => {
    const [red, , blue] = planes(ramp(2, 4), [4, 4], { resize: 'pad', fill: 114, mean: [0, 0, 14] });
    expect(red).toEqual([0, 10, 20, 30, 0, 10, 20, 30, ...Array(8).fill(114)]);
    expect(blue).toEqual([...Array(8).fill(-7), ...Array(8).fill(100)]);
  });

  it('pad with place: center has the floor of half the rest above and left, and one fill byte per channel', () => {
    const [red, , blue] = planes(ramp(2, 4), [5, 4], { resize: 'pad', place: 'center', fill: [1, 2, 3] });
    expect(red).toEqual([1, 1, 1, 1, 0, 10, 20, 30, 0, 10, 20, 30, ...Array(8).fill(1)]);
    expect(blue?.slice(0, 5)).toEqual([3, 3, 3, 3, 7]);
  });

  it.each([
    [{ shorterSide: 10 }, 'down', [10, 16]],
    [{ shorterSide: 10 }, 'nearest', [10, 17]],
    [{ shorterSide: 10, longerSide: 15 }, 'down', [9, 15]],
    [{ shorterSide: 3, longerSide: 5 }, 'nearest', [3, 5]],
  ] as const)('shorter: of 3×5 pixels %p, sizes %s, makes %p', (sides, sizes, wanted) => {
    const preprocessing = parse({ resize: 'shorter', sizes, ...sides });
    const { tensor, placement } = preprocessImage(ramp(3, 5), { height: undefined, width: undefined }, preprocessing);
    expect(tensor.dims).toEqual([1, 3, ...wanted]);
    // Boxes go back by the ratio itself, not by the whole sizes.
    expect(placement.scaleX).toBeCloseTo(Math.min(sides.shorterSide / 3, ('longerSide' in sides ? sides.longerSide : 99) / 5), 12);
  });

  it.each([
    ['pad', { height: undefined, width: 4 }, {}, /free height and width/],
    ['shorter', { height: 4, width: 4 }, { shorterSide: 3 }, /^the image is 5×3, the model takes 4×4/],
    ['shorter', { height: undefined, width: undefined }, {}, /needs `shorterSide`/],
  ] as const)('%s refuses a model of %p', async (resize, size, params, message) => {
    const failure = await failureOf(async () => preprocessImage(ramp(3, 5), size, parse({ resize, ...params })));
    expect(failure).toMatchObject({ code: 'input-size', message: expect.stringMatching(message) });
  });

  it.each([
    ['none', [4, 6], {}, 'input-size', /^the image is 6×5, the model takes 6×4/],
    ['crop', [4, 6], { resize: 'crop', shorterSide: 4 }, 'input-size', /^the image is 4×4, the model takes 6×4/],
  ] as const)('%s refuses what it cannot reach', async (_what, size, params, code, message) => {
    const failure = await failureOf(async () => planes(ramp(5, 6), size, params));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('an image that would shrink to zero pixels, and an unknown filter, are refused', async () => {
    expect(await failureOf(async () => planes(ramp(1, 100), [10, 10], { resize: 'pad' }))).toMatchObject({ code: 'image-too-narrow' });
    const free = { height: undefined, width: undefined };
    for (const [resize, size] of [
      ['crop', { height: 256, width: 256 }],
      ['shorter', free],
    ] as const)
      expect(await failureOf(async () => preprocessImage(ramp(1, 10_000), size, parse({ resize, shorterSide: 256 })))).toMatchObject({
        code: 'image-too-narrow',
        message: expect.stringContaining('2560000×256'),
      });
    expect(() => parse({ filter: 'lanczos' })).toThrow();
    expect(() => parse({ std: [1, 0, 1] })).toThrow();
  });
});
