/** Where do the samples of a stage come from? COCO annotations, a folder of images, or tensor files: exactly one of them. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../base/json.js';
import type { ModelInput } from '../runtime/model-inputs.js';
import type { ModelSample } from '../runtime/model-sample.js';
import { listTensorSamples } from '../runtime/tensor-samples.js';
import { DetectionError } from './detection-error.js';
import { type ListedImage, listImageFolder, listImages, takeFirstImages } from './image-list.js';
import { makeImageSamples } from './image-samples.js';
import type { Preprocessing } from './preprocessing.js';

export type DataSource =
  | { readonly kind: 'images'; readonly folder: string; readonly images: readonly ListedImage[] }
  | { readonly kind: 'tensors'; readonly path: string };

/** What is connected: paths by port. */
export interface DataPaths {
  /** A COCO data set. */
  readonly data?: Readonly<Record<string, string>> | undefined;
  /** A folder of images. */
  readonly images?: string | undefined;
  /** A .npz or .npy file, or a folder of tensor files. */
  readonly tensors?: string | undefined;
}

/**
 * @param count  the first so many images, by id or by name; undefined: all.
 * @throws DetectionError `data-source` unless exactly one is connected; `bad-annotations`, `no-images`, `too-few-images`.
 */
export async function openDataSource({ data, images, tensors }: DataPaths, count: number | undefined): Promise<DataSource> {
  const connected = Object.entries({ data, images, tensors }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (connected.length !== 1) {
    throw new DetectionError('data-source', `${connected.length === 0 ? 'no data is' : `${connected.join(' and ')} are`} connected`, {
      help: 'connect exactly one of data (COCO annotations and images), images (a folder), tensors (.npz, .npy, ONNX .pb), or captured tensors',
    });
  }
  if (tensors !== undefined) return { kind: 'tensors', path: tensors };
  if (images !== undefined) return { kind: 'images', folder: images, images: takeFirstImages(await listImageFolder(images), count) };
  const { annotations = '', images: folder = '' } = data ?? {};
  return { kind: 'images', folder, images: takeFirstImages(listImages(await readAnnotations(annotations)), count) };
}

async function readAnnotations(path: string): Promise<Json> {
  const text = await readFile(path, 'utf8');
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DetectionError('bad-annotations', `COCO annotations: ${basename(path)} is not JSON: ${reason}`, { cause });
  }
}

export interface PlainModelOptions {
  readonly inputs: readonly ModelInput[];
  readonly preprocess: Preprocessing | undefined;
  /** The first so many; undefined: all. */
  readonly samples: number | undefined;
}

/**
 * The samples of a model that is no part of a detector.
 * @throws DetectionError `preprocess-missing` where images come without one, `image-input`; RuntimeError `no-samples`, `too-few-samples`.
 */
export async function openModelSamples(
  source: DataSource,
  { inputs, preprocess, samples }: PlainModelOptions,
): Promise<readonly ModelSample[]> {
  if (source.kind === 'tensors') {
    const found = await listTensorSamples(source.path, inputs);
    if (samples === undefined || samples <= found.length) return found.slice(0, samples);
    throw new DetectionError('too-few-samples', `${samples} samples are asked for, there are ${found.length}`, {
      help: `set samples to at most ${found.length}`,
    });
  }
  if (preprocess === undefined) {
    throw new DetectionError('preprocess-missing', 'images are connected, and nothing says how they become the input of the model', {
      help: 'set `preprocess` (colours, range, mean, std, resize), or connect the recipe of the detector that the model is a part of',
    });
  }
  return makeImageSamples(source.images, source.folder, inputs, preprocess);
}
