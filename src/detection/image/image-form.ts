/** The form in which a model takes an image: element type, order of axes, channels. Preprocessed images are brought to it. */
import { roundHalfEven } from '../../base/round-half-even.js';
import { anyOf, integer, NULL, object, oneOf } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { Dim } from '../../onnx/ir/model.js';
import { encodeFloat16Array } from '../../tensor/numeric/half.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { RgbImage } from './decode-image.js';
import type { Placement } from './placement.js';
import { preprocessImage } from './preprocessing.js';
import type { Preprocessing } from './preprocessing-schema.js';

export const IMAGE_DTYPES = ['float32', 'float64', 'float16', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64'] as const;

export type ImageDType = (typeof IMAGE_DTYPES)[number];

type IntegerDType = Exclude<ImageDType, 'float32' | 'float64' | 'float16'>;

export function isIntegerDType(dtype: ImageDType): dtype is IntegerDType {
  return !dtype.startsWith('float');
}

const SIDE = anyOf([integer(1), NULL], 'null: any size.');

export const IMAGE_FORM_SCHEMA = object({
  dtype: oneOf(IMAGE_DTYPES),
  layout: oneOf(['channels-first', 'channels-last']),
  batch: anyOf(
    [oneOf(['one', 'none']), integer(2)],
    'none: the input has no axis for a batch. A number: the network takes so many images at once.',
  ),
  channels: oneOf([1, 3], '1: gray.'),
  height: SIDE,
  width: SIDE,
});

export type ImageForm = FromSchema<typeof IMAGE_FORM_SCHEMA>;

/** Number of images that the network takes at once. */
export function batchOf({ batch }: Pick<ImageForm, 'batch'>): number {
  return typeof batch === 'number' ? batch : 1;
}

/** Dims of an output for one image of a batch. */
export function dimsOfOne<D extends Dim>(dims: readonly D[] | undefined, batch: number): readonly (D | 1)[] | undefined {
  return batch > 1 && dims?.[0] === batch ? [1, ...dims.slice(1)] : dims;
}

/** What most models take: float32 [1, 3, height, width]. */
export function isUsualForm({ dtype, layout, batch, channels }: ImageForm): boolean {
  return dtype === 'float32' && layout === 'channels-first' && batch === 'one' && channels === 3;
}

export interface FormedImage {
  readonly tensor: Tensor;
  readonly placement: Placement;
}

/**
 * The image in the form that an input takes, as one of its batch. Integers are the preprocessed values, rounded to the nearest (halves to even) and limited to the type.
 * @throws DetectionError `image-range` where integers would be fractions of 1, or mean and std map bytes to too few distinct values; as `preprocessImage`.
 */
export function formImage(image: RgbImage, form: ImageForm, preprocessing: Preprocessing): FormedImage {
  const { dtype, height, width, channels } = form;
  const isInteger = isIntegerDType(dtype);
  if (isInteger && preprocessing.range === '0..1')
    throw new DetectionError('image-range', `the model takes the image as ${dtype}, and \`range: 0..1\` leaves only 0 and 1`, {
      help: "set `range: '0..255'` of `preprocess`, or leave it out",
    });
  const size = { height: height ?? undefined, width: width ?? undefined };
  const range = preprocessing.range ?? (isInteger ? '0..255' : '0..1');
  if (isIntegerDType(dtype)) requireBytes(dtype, preprocessing, channels);
  const { tensor, placement } = preprocessImage(image, size, { ...preprocessing, range }, channels);
  return { tensor: castImage(arrange(tensor, form), dtype), placement };
}

/** With fewer distinct integers, an image is not usable. */
const LEAST_LEVELS = 16;

/** Refuses mean and std that were meant for floats, and none for int8: most bytes would be rounded to a few integers or clipped, without a message. */
function requireBytes(dtype: IntegerDType, { mean, std }: Preprocessing, channels: ImageForm['channels']): void {
  const [least, most] = LIMITS[dtype];
  const isLost = (channel: number): boolean => {
    const [m, s] = [mean[channel] ?? 0, std[channel] ?? 1];
    const lost = BYTES.filter(byte => (byte - m) / s < least - 0.5 || (byte - m) / s > most + 0.5);
    return 255 / s < LEAST_LEVELS || lost.length >= BYTES.length / 2 - 1;
  };
  if (![0, 1, 2].slice(0, channels).every(isLost)) return;
  throw new DetectionError(
    'image-range',
    `the model takes the image as ${dtype}, and mean and std of \`preprocess\` map the bytes 0…255 to too few distinct values`,
    {
      help:
        dtype === 'int8'
          ? 'set `mean: [128, 128, 128]`, if the model was trained on bytes minus 128, or what its own code subtracts'
          : 'leave mean and std out, if the model takes the bytes as they are',
    },
  );
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);

function arrange({ dims: [, channels = 0, height = 0, width = 0], data }: Tensor<'float32'>, { layout, batch }: ImageForm) {
  const leading = batch === 'none' ? [] : [1];
  if (layout === 'channels-first') return makeTensor('float32', [...leading, channels, height, width], data);
  const area = height * width;
  const last = new Float32Array(data.length);
  for (let channel = 0; channel < channels; channel++)
    for (let pixel = 0; pixel < area; pixel++) last[pixel * channels + channel] = data[channel * area + pixel] as number;
  return makeTensor('float32', [...leading, height, width, channels], last);
}

const LIMITS = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  int32: [-2_147_483_648, 2_147_483_647],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
} as const;

/** float32 as another type: integers are rounded, halves to even, and limited to the type. */
export function castImage({ dims, data }: Tensor<'float32'>, dtype: ImageDType): Tensor {
  if (dtype === 'float32') return makeTensor('float32', dims, data);
  if (dtype === 'float64') return makeTensor('float64', dims, Float64Array.from(data));
  if (dtype === 'float16') return makeTensor('float16', dims, encodeFloat16Array(data));
  const [least, most] = LIMITS[dtype];
  const round = (value: number): number => Math.min(Math.max(roundHalfEven(value), least), most);
  switch (dtype) {
    case 'uint8':
      return makeTensor(dtype, dims, Uint8Array.from(data, round));
    case 'int8':
      return makeTensor(dtype, dims, Int8Array.from(data, round));
    case 'uint16':
      return makeTensor(dtype, dims, Uint16Array.from(data, round));
    case 'int16':
      return makeTensor(dtype, dims, Int16Array.from(data, round));
    case 'int32':
      return makeTensor(dtype, dims, Int32Array.from(data, round));
    case 'int64':
      return makeTensor(
        dtype,
        dims,
        BigInt64Array.from(data, value => BigInt(round(value))),
      );
  }
}
