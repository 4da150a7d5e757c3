/** The data source of a stage: COCO annotations, a folder of images, or tensor files. Exactly one of them is connected. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../../base/json.js';
import type { Model } from '../../onnx/ir/model.js';
import type { ModelSample } from '../../runtime/feeds/model-sample.js';
import { listTensorSamples } from '../../runtime/feeds/tensor-samples.js';
import { listModelInputs } from '../../runtime/session/model-inputs.js';
import { DetectionError } from '../error/detection-error.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { findImageInputs, type LogInputs, logInputs } from './image-inputs.js';
import { type ListedImage, listImageFolder, listImages, takeFirstImages, takeFromFolders } from './image-list.js';
import { makeImageSamples } from './image-samples.js';
import { makePreparedSamples, type PreparingModel } from './preparing-model.js';

export interface ImageSource {
  readonly kind: 'images';
  readonly folder: string;
  readonly images: readonly ListedImage[];
}

export type DataSource = ImageSource | { readonly kind: 'tensors'; readonly path: string };

/** Paths of the connected ports. */
export interface ImagePaths {
  /** A COCO data set. */
  readonly data?: Readonly<Record<string, string>> | undefined;
  /** A folder of images. */
  readonly images?: string | undefined;
}

export interface DataPaths extends ImagePaths {
  /** A .npz or .npy file, or a folder of tensor files. */
  readonly tensors?: string | undefined;
}

/**
 * @param count  number of images, the first by id or by name; undefined: all.
 * @throws DetectionError `data-source` unless exactly one source is connected; `bad-annotations`, `coco-field`, `coco-file-name`, `no-images`, `too-few-images`.
 */
export async function openDataSource({ tensors, ...images }: DataPaths, count: number | undefined): Promise<DataSource> {
  if (tensors === undefined) return openImageSource(images, count);
  if (images.data !== undefined || images.images !== undefined) throw notOneSource('both tensors and images are connected');
  return { kind: 'tensors', path: tensors };
}

/** @throws as `openDataSource`. */
export async function openImageSource({ data, images }: ImagePaths, count: number | undefined): Promise<ImageSource> {
  if (data !== undefined && images !== undefined) throw notOneSource('both `data` and `images` are connected');
  if (images !== undefined) return { kind: 'images', folder: images, images: takeFromFolders(await listImageFolder(images), count) };
  if (data === undefined) throw notOneSource('no data source is connected');
  const { annotations = '', images: folder = '' } = data;
  return { kind: 'images', folder, images: takeFirstImages(listImages(await readAnnotations(annotations)), count) };
}

function notOneSource(message: string): DetectionError {
  return new DetectionError('data-source', message, {
    help: 'connect exactly one of the data ports of the stage: data (COCO annotations and images), images (a folder), tensors (.npz, .npy, ONNX .pb), captured tensors',
  });
}

async function readAnnotations(path: string): Promise<Json> {
  const text = await readFile(path, 'utf8');
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DetectionError('bad-annotations', `COCO annotations: ${basename(path)} is not valid JSON: ${reason}`, { cause });
  }
}

export interface PlainModelOptions {
  readonly model: Model;
  readonly preprocess: Preprocessing | undefined;
  /** Number of samples; undefined: all. */
  readonly samples: number | undefined;
  /** Makes the inputs of `model` from those of an image. */
  readonly prepare: PreparingModel | undefined;
  /** Takes what is assumed of inputs that are not float32 [1, 3, height, width]. */
  readonly log: LogInputs;
}

/**
 * The samples of a model that is not part of a detector.
 * @throws DetectionError `preprocess-missing` where images are connected without `preprocess`; `image-input`; RuntimeError `no-samples`, `too-few-samples`.
 */
export async function openModelSamples(
  source: DataSource,
  { model, preprocess, samples, prepare, log }: PlainModelOptions,
): Promise<readonly ModelSample[]> {
  if (source.kind === 'tensors') {
    if (prepare !== undefined) throw preparesImages('tensors');
    const found = await listTensorSamples(source.path, listModelInputs(model));
    if (samples === undefined || samples <= found.length) return found.slice(0, samples);
    throw new DetectionError('too-few-samples', `${samples} samples are requested, but there are only ${found.length}`, {
      help: `set \`samples\` to at most ${found.length}`,
    });
  }
  if (preprocess === undefined) {
    throw new DetectionError('preprocess-missing', 'images are connected, but their preprocessing is not declared', {
      help: 'set `preprocess` (colors, range, mean, std, resize), or connect the host recipe of the detector that the model belongs to',
    });
  }
  const found = findImageInputs(prepare?.model ?? model, preprocess, prepare === undefined ? [] : [model]);
  const { inputs } = found;
  logInputs(found, log);
  const ofImages = makeImageSamples(source.images, source.folder, inputs, preprocess);
  for (const one of ofImages.notes) log('info', one);
  return prepare === undefined ? ofImages.samples : makePreparedSamples(ofImages.samples, prepare, model);
}

/** The error of a preparing model beside inputs that are made already. */
export function preparesImages(what: string): DetectionError {
  return new DetectionError('data-source', `\`prepare\` makes inputs from images, but ${what} are connected`, {
    help: 'remove `prepare`, or connect images',
  });
}
