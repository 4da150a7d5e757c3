/** Tensors that a model is given for images, and what it gives for one image of a batch. */
import { getDefined } from '../../base/invariant.js';
import { joinRows, sliceRows } from '../../tensor/rows.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { RgbImage } from '../image/decode-image.js';
import { batchOf, castImage, formImage } from '../image/image-form.js';
import { measureWord } from '../image/measure-word.js';
import type { Placement } from '../image/placement.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { countOfDims, type ImageInputs, isPerImage, type ValuesInput } from './image-inputs-schema.js';

/** Tensors by input. */
export type ImageFeeds = Readonly<Record<string, Tensor>>;

/** Tensors by input, and where the image lies in its input. The image fills all places of a batch. @throws as `formImage`. */
export function makeImageFeeds(
  pixels: RgbImage,
  inputs: ImageInputs,
  preprocessing: Preprocessing,
): { readonly feeds: ImageFeeds; readonly placement: Placement } {
  const { feeds, placement } = makeFeedsOfOne(pixels, inputs, preprocessing);
  return { feeds: joinBatch([feeds], inputs), placement };
}

/** Tensors by input for as many images as the network takes at once. @throws as `formImage`. */
export function makeBatchFeeds(images: readonly RgbImage[], inputs: ImageInputs, preprocessing: Preprocessing): ImageFeeds {
  return joinBatch(
    images.map(pixels => makeFeedsOfOne(pixels, inputs, preprocessing).feeds),
    inputs,
  );
}

function makeFeedsOfOne(pixels: RgbImage, { image, others, order }: ImageInputs, preprocessing: Preprocessing) {
  const { tensor, placement } = formImage(pixels, image.form, preprocessing);
  const made = new Map<string, Tensor>([[image.name, tensor]]);
  for (const other of others)
    made.set(
      other.name,
      other.kind === 'image' ? formImage(pixels, other.form, preprocessing).tensor : fillInput(other, placement, batchOf(image.form)),
    );
  const feeds: ImageFeeds = Object.fromEntries(order.flatMap(name => (made.has(name) ? [[name, made.get(name) as Tensor]] : [])));
  return { feeds, placement };
}

/** Fills the batch with the images, starting over at the first. Inputs that all images share are those of the first. */
function joinBatch(images: readonly ImageFeeds[], { image, others }: ImageInputs): ImageFeeds {
  const [first = {}] = images;
  const batch = batchOf(image.form);
  if (batch === 1) return first;
  const shared = new Set(others.filter(other => other.kind === 'values' && !isPerImage(other, batch)).map(({ name }) => name));
  const rows = Array.from({ length: batch }, (_, place) => images[place % images.length] ?? first);
  return Object.fromEntries(
    Object.entries(first).map(([name, tensor]) => [
      name,
      shared.has(name)
        ? tensor
        : joinRows(
            rows.flatMap(row => row[name] ?? []),
            batch,
          ),
    ]),
  );
}

/** The row of one image where each has its own; otherwise the whole input. */
function fillInput(other: ValuesInput, placement: Placement, batch: number): Tensor {
  const { dtype, values } = other;
  const dims = isPerImage(other, batch) ? [1, ...other.dims.slice(1)] : other.dims;
  const numbers = values.map(value => (typeof value === 'number' ? value : measureWord(value, placement)));
  const data = Float32Array.from({ length: countOfDims(dims) }, (_, index) => numbers[numbers.length === 1 ? 0 : index] ?? 0);
  return castImage(makeTensor('float32', dims, data), dtype);
}

/** The row of the first image of a batch. @throws as `listBatch`. */
export function takeFirstOfBatch<T extends Tensor>(name: string, tensor: T, batch: number): T {
  return getDefined(listBatch(name, tensor, batch, 1)[0], 'first image of a batch');
}

/** The rows of the first `count` images of a batch. @throws DetectionError `batch-rows` if the output has no row per image. */
export function listBatch<T extends Tensor>(name: string, tensor: T, batch: number, count = batch): readonly T[] {
  if (batch === 1) return [tensor];
  if (tensor.dims[0] === batch) return Array.from({ length: count }, (_, image) => sliceRows(tensor, image, 1) as T);
  throw new DetectionError(
    'batch-rows',
    `the network takes ${batch} images at once, and its output "${name}" [${tensor.dims.join(', ')}] has not a row for each`,
    { help: 'export the model with a batch of 1' },
  );
}
