/** The price of a rewrite: differences of every output on the first images of a data set. */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { findImageFile, listImages, takeFirstImages } from '../../src/detection/data/image-list.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import { asGiven } from '../../src/detection/detector/part-runner.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { compareModels, type OutputComparison } from '../../src/runtime/compare/compare-models.js';
import type { Context } from '../../src/stage/context.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readDataFile } from '../../src/stage/json-file.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import type { Tensor } from '../../src/tensor/tensor.js';

export type Price =
  | { readonly kind: 'measured'; readonly samples: readonly string[]; readonly outputs: Readonly<Record<string, OutputComparison>> }
  | { readonly kind: 'not-measured'; readonly reason: string };

export interface RewrittenModel {
  /** The model after the rewrite. */
  readonly model: Model;
  /** Model paths. */
  readonly before: string;
  readonly after: string;
}

/** Measures on the given number of images, if a recipe defines how an image becomes the model's only input. */
export async function measurePrice(
  rewritten: RewrittenModel,
  inputs: InputPaths,
  options: { readonly samples: number; readonly context: Context },
): Promise<Price> {
  if (inputs.data === undefined || inputs.recipe === undefined) return notMeasured('data and recipe are not both connected');
  if (options.samples === 0) return notMeasured('samples is 0');
  const definition = readDefinition({ recipe: await readDataFile(getInputPath(inputs, 'recipe')) });
  const [imagePart] = definition.parts;
  const given = imagePart?.values.inputs ?? [];
  const names = inputNames(rewritten.model);
  const quote = (some: readonly string[]): string => some.map(name => `"${name}"`).join(', ');
  if (names.length === 0 || !names.every(name => given.includes(name)))
    return notMeasured(`the model's inputs are ${quote(names)}, but an image gives ${quote(given)}`);
  const data = getInputRecord(inputs, 'data');
  const images = takeFirstImages(listImages(await readDataFile(getDefined(data.annotations, 'annotations'))), options.samples);
  const folder = getDefined(data.images, 'images');
  const samples = await Promise.all(images.map(image => findImageFile(folder, image)));
  const feeds = prepareFeeds(samples, definition, options.context);
  const { outputs } = await compareModels(rewritten.before, rewritten.after, feeds, { optimization: 'disabled' });
  return { kind: 'measured', samples: samples.map(path => basename(path)), outputs };
}

export const notMeasured = (reason: string): Price => ({ kind: 'not-measured', reason });

function inputNames({ graph }: Model): readonly string[] {
  return graph.inputs.flatMap(id => {
    const value = graph.values.get(id);
    return value === undefined || value.constant !== undefined ? [] : [value.name];
  });
}

async function* prepareFeeds(
  paths: readonly string[],
  definition: DetectorDefinition,
  context: Context,
): AsyncGenerator<Readonly<Record<string, Tensor>>> {
  for (const [index, path] of paths.entries()) {
    context.progress(index, paths.length, 'images');
    const image = await decodeImage(await readFile(path), basename(path));
    yield asGiven(definition.prepareInput(image));
  }
}
