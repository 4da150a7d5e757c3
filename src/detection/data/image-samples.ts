/** Samples of a single model that takes images: each image of a list, preprocessed as declared. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ModelSample } from '../../runtime/feeds/model-sample.js';
import type { ModelInput } from '../../runtime/session/model-inputs.js';
import { formatDims } from '../../runtime/session/model-inputs.js';
import { DetectionError } from '../error/detection-error.js';
import { decodeImage } from '../image/decode-image.js';
import type { InputSize } from '../image/placement.js';
import { preprocessImage } from '../image/preprocessing.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { findImageFile, type ListedImage } from './image-list.js';

/**
 * @param inputs  inputs of the model: one, float32 [1 or free, 3, H, W]. Free H and W need `resize: shorter` or `none`.
 * @throws DetectionError `image-input` for other inputs; while reading a sample, as `decodeImage` and `preprocessImage`.
 */
export function makeImageSamples(
  images: readonly ListedImage[],
  folder: string,
  inputs: readonly ModelInput[],
  preprocessing: Preprocessing,
): readonly ModelSample[] {
  const { name, size } = readImageInput(inputs);
  return images.map(image => ({
    id: String(image.id),
    source: image.fileName,
    async read() {
      const path = await findImageFile(folder, image);
      return { [name]: preprocessImage(await decodeImage(await readFile(path), basename(path)), size, preprocessing).tensor };
    },
  }));
}

/** The single input of a model that takes images. @throws DetectionError `image-input`. */
export function readImageInput(inputs: readonly ModelInput[]): { readonly name: string; readonly size: InputSize } {
  const [input, ...others] = inputs;
  const [batch, channels, height, width, ...more] = input?.dims ?? [];
  const fits =
    (batch === 1 || typeof batch !== 'number') &&
    channels === 3 &&
    (input?.dims?.length ?? 0) === 4 &&
    more.length === 0 &&
    (input?.dtype ?? 'float32') === 'float32';
  if (input !== undefined && others.length === 0 && fits) return { name: input.name, size: { height: fixed(height), width: fixed(width) } };
  const found = inputs.map(one => `"${one.name}" ${one.dtype ?? '?'} ${one.dims === undefined ? '[…]' : formatDims(one.dims)}`);
  throw new DetectionError(
    'image-input',
    `images need a model with one input float32 [1, 3, height, width]; the model has ${found.join(', ') || 'no inputs'}`,
    {
      help: isUnbatched(inputs)
        ? 'set `unbatched: batch` of `import`, which gives the image a batch of 1'
        : 'pin the shapes with `import`, or connect tensors: .npz, .npy or ONNX .pb files',
    },
  );
}

function isUnbatched([input, ...others]: readonly ModelInput[]): boolean {
  return others.length === 0 && input?.dims?.length === 3 && input.dims[0] === 3;
}

function fixed(dim: number | string | undefined): number | undefined {
  return typeof dim === 'number' ? dim : undefined;
}
