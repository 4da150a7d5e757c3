/** Runs `describe`: makes the host recipe of a single-network detector, tries its decoder on zero outputs, and writes it. */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { findOwn } from '../../src/base/find-own.js';
import { getDefined } from '../../src/base/invariant.js';
import { COCO_CATEGORIES } from '../../src/detection/coco/categories.js';
import { type FoundInputs, findImageInputs, logInputs } from '../../src/detection/data/image-inputs.js';
import type { ImageInputs } from '../../src/detection/data/image-inputs-schema.js';
import { describeAngle, findAngleColumns } from '../../src/detection/families/single/decoder/angle-columns.js';
import { listDecodedOutputs } from '../../src/detection/families/single/decoder/decode.js';
import type { Decoder } from '../../src/detection/families/single/decoder/decoder.js';
import type { OutputShape } from '../../src/detection/families/single/decoder/decoder-guess.js';
import { formOfDecoder } from '../../src/detection/families/single/decoder/decoder-text.js';
import { findDecoder } from '../../src/detection/families/single/decoder/find-decoder.js';
import type { Category, Selection, SingleInput, SingleRecipe } from '../../src/detection/families/single/recipe.js';
import { batchOf, dimsOfOne, isUsualForm } from '../../src/detection/image/image-form.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing-schema.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import { formatDims } from '../../src/onnx/shape-inference/context/node-context.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type DetectorModels, listAllModels, listOutputs, listParts, readDetectorModels } from './detector-models.js';
import type { DecoderParams, DescribeParams } from './params.js';
import { tryDecoder } from './try-decoder.js';

/** @throws DetectionError `image-input`, `decoder-module`, `decoder-shape`, `decoder-result`; StageError `decoder-output`. */
export async function runDescribe(job: StageJob<DescribeParams>): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const models = await readDetectorModels(inputs);
  const names = listAllModels(models).flatMap(listOutputs);
  const found = findInputs(models, params.preprocess);
  logInputs(found, (level, text) => context.log(level, text));
  const decoder =
    params.decoder.found === undefined
      ? await makeDecoder(params.decoder, names, () => getInputPath(inputs, 'decoder'))
      : findByOutputs(models, found.inputs, context);
  checkOutputs(decoder, names);
  const recipe = makeRecipe(models, decoder, params, found.inputs);
  await tryDecoder(listAllModels(models), recipe, context);
  await writeJsonFile(getOutputPath(outputs, 'recipe'), recipe);
}

function findInputs(models: DetectorModels, preprocess: Preprocessing): FoundInputs {
  const [first = models.model, ...later] = listAllModels(models);
  return findImageInputs(first, preprocess, later);
}

/** @throws StageError `decoder-unknown` where no form fits the outputs. */
function findByOutputs(models: DetectorModels, { image }: ImageInputs, context: Pick<Context, 'log'>): Decoder {
  const { height, width } = image.form;
  const { graph } = models.rest ?? models.model;
  const outputs = graph.outputs.map((id): OutputShape => {
    const { name, type } = getValue(graph, id);
    return type?.kind === 'tensor'
      ? { name, dtype: type.dtype, dims: dimsOfOne(type.dims, batchOf(image.form)) }
      : { name, dtype: undefined, dims: undefined };
  });
  const [angle] = findAngleColumns(models.rest ?? models.model);
  if (angle !== undefined)
    throw new StageError(
      'decoder-unknown',
      `${describeAngle(angle)}: the network computes its sine or cosine, so its boxes are rotated, which no built-in form is`,
      { help: 'connect a decoder of your own, such as docs/decoders/yolo-obb.js: docs/decoders.md' },
    );
  const found = height === null || width === null ? undefined : findDecoder(outputs, { height, width });
  if (found === undefined)
    throw new StageError(
      'decoder-unknown',
      `no form of decoder fits the outputs ${outputs.map(({ name, dims }) => `"${name}" ${formatDims(dims)}`).join(', ')}`,
      { help: 'state the decoder, or write one: docs/your-own-model.md and docs/decoders.md' },
    );
  const classes = typeof found.classes === 'number' ? `${found.classes} classes` : found.classes;
  context.log(
    'info',
    `the decoder is assumed by the outputs: ${found.assumed}; ${classes}: ${JSON.stringify(formOfDecoder(found.decoder))}`,
  );
  return found.decoder;
}

async function makeDecoder(params: DecoderParams, outputs: readonly string[], modulePath: () => string): Promise<Decoder> {
  const { grid, distances, priors, boxes, detections, anchors, joined, selected, heatmap, offsets, module } = params;
  if (grid !== undefined) return { kind: 'grid', ...grid };
  if (distances !== undefined) return { kind: 'distances', ...distances };
  if (boxes !== undefined) return { kind: 'boxes', ...boxes };
  if (detections !== undefined) return { kind: 'detections', ...detections };
  if (anchors !== undefined) return { kind: 'anchors', ...anchors };
  if (joined !== undefined) return { kind: 'joined', ...joined };
  if (selected !== undefined) return { kind: 'selected', ...selected };
  if (heatmap !== undefined) return { kind: 'heatmap', ...heatmap };
  if (offsets !== undefined) return { kind: 'offsets', ...offsets };
  if (priors !== undefined) {
    const levels = priors.levels.map(level => ({
      ...level,
      sizes: level.sizes.map(size => (typeof size === 'number' ? [size, size] : size)),
    }));
    return { kind: 'priors', ...priors, levels };
  }
  const { outputs: wanted = outputs, options } = getDefined(module, 'a decoder');
  const path = modulePath();
  return { kind: 'module', name: basename(path), source: await readFile(path, 'utf8'), outputs: wanted, options };
}

/** @throws StageError `decoder-output`. */
function checkOutputs(decoder: Decoder, names: readonly string[]): void {
  const missing = listDecodedOutputs(decoder).filter(name => !names.includes(name));
  if (missing.length === 0) return;
  throw new StageError('decoder-output', `the model has no output ${missing.map(name => `"${name}"`).join(', ')}`, {
    help: `its outputs are ${names.join(', ')}`,
  });
}

function makeRecipe(models: DetectorModels, decoder: Decoder, params: DescribeParams, inputs: ImageInputs): SingleRecipe {
  return {
    format: 'tanren-recipe',
    version: 1,
    architecture: 'single',
    image: describeImage(inputs, params.preprocess),
    ...listParts(models, { decoded: listDecodedOutputs(decoder), image: inputs.order }),
    decoder,
    selection: makeSelection(decoder, params),
    categories: listCategories(params.categories),
  };
}

function describeImage({ image, others }: ImageInputs, preprocess: Preprocessing): SingleInput {
  const { form } = image;
  return {
    value: image.name,
    height: form.height ?? 'free',
    width: form.width ?? 'free',
    preprocess,
    ...(isUsualForm(form) ? {} : { form }),
    ...(others.length === 0 ? {} : { others }),
  };
}

function makeSelection(decoder: Decoder, params: DescribeParams): Selection {
  const { scoreThreshold, labels, candidates, nmsClasses, perImage, clip } = params;
  const threshold = params.nms ?? (decoder.kind === 'detections' || decoder.kind === 'selected' ? 'none' : 0.5);
  const nms = threshold === 'none' ? threshold : { threshold, classes: nmsClasses };
  return { scoreThreshold, labels, candidates, nms, perImage, clip };
}

/** Of the ids from 0 to this one, 80 are in use. */
const LARGEST_COCO_ID = 90;

function listCategories(categories: DescribeParams['categories']): readonly Category[] {
  if (categories === 'coco-ids')
    return Array.from({ length: LARGEST_COCO_ID + 1 }, (_, id) => ({ id, name: findOwn(COCO_CATEGORIES, String(id)) ?? `id ${id}` }));
  if (categories === 'coco') return Object.entries(COCO_CATEGORIES).map(([id, name]) => ({ id: Number(id), name }));
  return categories.map((category, index) => (typeof category === 'string' ? { id: index + 1, name: category } : category));
}
