/** Images in the forms that models take. Expected bytes are those of Pillow 12: `convert("L")` and `resize((3, 4), BILINEAR)` of one noise image. */
import type { JsonObject } from '../../../../src/base/json.js';
import type { RgbImage } from '../../../../src/detection/image/decode-image.js';
import { formImage, type ImageForm } from '../../../../src/detection/image/image-form.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../src/detection/image/preprocessing-schema.js';
import { failureOf } from '../../../support/error-code.js';
import { ajvOf } from '../../../support/params-schema.js';

const NOISE: RgbImage = {
  height: 5,
  width: 7,
  // biome-ignore format: rows of numbers
  data: Uint8Array.from([
    99, 206, 239, 189, 230, 118, 144, 73, 8, 228, 231, 190, 155, 112, 158, 208, 7, 204, 143, 113, 181, 231, 80, 27, 44, 205, 203, 65, 175, 30, 212, 86, 125, 146, 254,
    121, 137, 106, 41, 233, 190, 129, 210, 103, 144, 206, 5, 58, 0, 208, 132, 110, 164, 105, 179, 27, 31, 2, 68, 38, 105, 211, 147, 18, 113, 245, 135, 100, 108, 109,
    158, 190, 11, 235, 67, 124, 193, 183, 131, 91, 78, 155, 157, 33, 217, 85, 135, 16, 94, 14, 218, 31, 9, 38, 47, 144, 133, 162, 173, 187, 152, 141, 118, 235, 232,
  ]),
};
// biome-ignore format: rows of numbers
const GRAY = [
  178, 205, 87, 225, 130, 90, 130, 119, 157, 126, 128, 207, 108, 196, 140, 71, 137, 141, 73, 45, 172, 100, 111, 147, 149, 171, 101, 142, 130, 62, 84, 55, 155, 161, 200,
];
const SMALL_GRAY = [162, 158, 125, 126, 133, 134, 113, 134, 116, 97, 106, 163];
// biome-ignore format: rows of numbers
const SMALL = [
  139, 180, 129, 178, 154, 127, 173, 92, 162, 135, 124, 104, 128, 143, 95, 133, 144, 84, 119, 103, 146, 85, 164, 110, 113, 125, 80, 120, 87, 86, 101, 107, 115, 148, 172, 156,
];

const FORM: ImageForm = { dtype: 'float32', layout: 'channels-first', batch: 'one', channels: 3, height: 4, width: 3 };
const PILLOW = { resize: 'stretch', antialias: true, rounding: 'bytes' };
const parse = (params: JsonObject): Preprocessing => ajvOf(PREPROCESSING_SCHEMA)(params) as Preprocessing;

const formed = (form: Partial<ImageForm>, params: JsonObject = PILLOW) => {
  const { dtype, dims, data } = formImage(NOISE, { ...FORM, ...form }, parse(params)).tensor;
  return { dtype, dims, data: Array.from(data as ArrayLike<number | bigint>, Number) };
};

describe('the form of an image', () => {
  it('bytes with channels last are those of Pillow', () => {
    expect(formed({ dtype: 'uint8', layout: 'channels-last' })).toEqual({ dtype: 'uint8', dims: [1, 4, 3, 3], data: SMALL });
    expect(formed({ dtype: 'uint8', layout: 'channels-last', batch: 'none' }).dims).toEqual([4, 3, 3]);
  });

  it('integers with channels first are the same bytes by plane, in the order of `colors`', () => {
    const planes = [2, 1, 0].flatMap(channel => SMALL.filter((_, index) => index % 3 === channel));
    expect(formed({ dtype: 'int64' }, { ...PILLOW, colors: 'bgr' })).toEqual({ dtype: 'int64', dims: [1, 3, 4, 3], data: planes });
  });

  it('one channel takes the gray of Pillow, before the resize', () => {
    expect(formed({ dtype: 'uint8', channels: 1, height: 5, width: 7 }, {}).data).toEqual(GRAY);
    expect(formed({ dtype: 'uint8', channels: 1 })).toEqual({ dtype: 'uint8', dims: [1, 1, 4, 3], data: SMALL_GRAY });
    const { fround } = Math;
    expect(formed({ channels: 1 }, { ...PILLOW, mean: [0.5, 0, 0], std: [0.25, 1, 1] }).data).toEqual(
      SMALL_GRAY.map(byte => fround(fround(fround(byte / 255) - 0.5) / 0.25)),
    );
  });

  it('integers are rounded, halves to even, and limited to their type', () => {
    // 127.5 below the byte: halves. int8 ends at 127, and at −128.
    const halves = formed({ dtype: 'int16', layout: 'channels-last' }, { ...PILLOW, mean: [127.5, 127.5, 127.5] }).data;
    // Adding 0 makes −0 to 0.
    const even = (value: number) => (Math.floor(value) % 2 === 0 ? Math.floor(value) : Math.ceil(value)) + 0;
    expect(halves).toEqual(SMALL.map(byte => even(byte - 127.5)));
    const limited = formed({ dtype: 'int8', layout: 'channels-last' }, { ...PILLOW, mean: [128, 128, 128], std: [0.5, 0.5, 0.75] }).data;
    expect(limited.filter((_, index) => index % 3 < 2)).toEqual(
      SMALL.filter((_, index) => index % 3 < 2).map(byte => Math.min(127, Math.max(-128, 2 * (byte - 128)))),
    );
  });

  it.each([
    ['int8', {}],
    ['int8', { mean: [123.7, 116.3, 103.5], std: [58.4, 57.1, 57.4] }],
    ['uint8', { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] }],
    ['uint8', { mean: [123.7, 116.3, 103.5], std: [58.4, 57.1, 57.4] }],
    ['uint8', { mean: [128, 128, 128] }],
    ['int64', { std: [255, 255, 255] }],
  ] as const)('refuses %s with %j, which leave too few of the bytes apart', async (dtype, params) => {
    expect(await failureOf(async () => formed({ dtype }, { ...PILLOW, ...params }))).toMatchObject({ code: 'image-range' });
  });

  it('looks at the channels that the input has', async () => {
    const params = { ...PILLOW, mean: [0, 128, 128] };
    expect(await failureOf(async () => formed({ dtype: 'int8', channels: 1 }, params))).toMatchObject({ code: 'image-range' });
    expect(formed({ dtype: 'int8' }, params).dims).toEqual([1, 3, 4, 3]);
  });

  it('refuses integers of values from 0 to 1', async () => {
    expect(await failureOf(async () => formed({ dtype: 'uint8' }, { ...PILLOW, range: '0..1' }))).toMatchObject({ code: 'image-range' });
  });
});
