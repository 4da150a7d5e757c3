/** The part of `widen-types` that computes the COCO figures of the detector with one set of wider types. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { CocoId } from '../../src/detection/coco/coco-id.js';
import { type CocoDataset, parseCocoDataset } from '../../src/detection/coco/dataset.js';
import { evaluateCoco } from '../../src/detection/coco/evaluate.js';
import type { IouType } from '../../src/detection/coco/params.js';
import { parseCocoResults } from '../../src/detection/coco/results.js';
import { takeImages } from '../../src/detection/coco/subset.js';
import { findImageFile, type ListedImage, listImages, takeFirstImages } from '../../src/detection/data/image-list.js';
import { type DetectionSettings, detectInImage, openParts } from '../../src/detection/detect-image.js';
import { keepImages, type ReadImage } from '../../src/detection/image/kept-images.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { openExact } from '../../src/quant/exact/open-exact.js';
import type { Quantizer } from '../../src/quant/open-quantizer.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { parseWidenedTypes, type WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { readDataFile } from '../../src/stage/json-file.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { modelsOfRoles } from '../../src/stage/model-roles.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import type { TrialBase } from './manifest.js';
import { makeTrialModel, readQuantizer } from './quantize-trial.js';

export interface FiguresManifest extends DetectionManifest {
  readonly types: WidenedTypes & JsonObject;
}

/** What all trials share. */
export interface DetectionManifest extends JsonObject {
  readonly run: TrialBase;
  readonly detection: DetectionSettings;
  /** The part of the detector that is quantized. */
  readonly part: string;
  readonly iouTypes: readonly IouType[];
  /** Digests of the annotations, of every image in order, and of the other parts by name. */
  readonly data: string;
  /** Number of images, the first ones. */
  readonly images: number;
}

export const figuresPart = defineJsonPart<FiguresManifest>({
  name: 'widen-types-figures',
  version: 1,
  module: import.meta.url,
  async compute({ manifest, unkeyed, context }) {
    const { run, types, iouTypes } = manifest;
    const trial = await openOrReuse(JSON.stringify([run, manifest.data, unkeyed.scratch]), () => open(unkeyed, manifest));
    const path = join(getDefined(unkeyed.scratch, 'scratch'), 'trial.onnx');
    const checkAbort = (): void => context.signal.throwIfAborted();
    await writeModel(path, await makeTrialModel({ quantizer: trial.quantizer, types: parseWidenedTypes(types), run, unkeyed, checkAbort }));
    const detector = await openParts({ ...modelsOfRoles(unkeyed), [manifest.part]: path }, manifest.detection, openExact);
    const found: Json[] = [];
    try {
      for (const { file, imageId, height, width } of trial.images) {
        checkAbort();
        found.push(JSON.parse(await detectInImage(detector, file, { imageId, height, width }, trial.readImage)) as Json);
      }
    } finally {
      await detector.close();
      await rm(path, { force: true });
    }
    const results = parseCocoResults(found.flat(), trial.dataset);
    const figures = Object.fromEntries(iouTypes.map(type => [type, { ...evaluateCoco(trial.dataset, results, type) }]));
    return figures;
  },
});

interface Trial extends Closable {
  readonly quantizer: Quantizer;
  readonly dataset: CocoDataset;
  /** Keeps what fits into its budget. */
  readonly readImage: ReadImage;
  readonly images: readonly { readonly file: string; readonly imageId: CocoId; readonly height: number; readonly width: number }[];
}

const openOrReuse = makeOpenOrReuse<Trial>();

async function open(unkeyed: Readonly<Record<string, string>>, { run, images: count }: FiguresManifest): Promise<Trial> {
  const paths = { model: getDefined(unkeyed.model, 'model'), sketches: getDefined(unkeyed.sketches, 'sketches') };
  const { images, dataset } = await listTrialImages(unkeyed, count);
  const quantizer = await readQuantizer(paths, run.quantize as QuantizeParams);
  return { quantizer, dataset, images, readImage: keepImages(), close: async () => undefined };
}

/** The files of the first `count` images, with the sizes that the annotations state. @throws DetectionError for data sets. */
export async function listTrialImages(unkeyed: Readonly<Record<string, string>>, count: number) {
  const { images, dataset } = await readImages(getDefined(unkeyed.annotations, 'annotations'), count);
  const sizes = new Map(dataset.images.map(image => [image.id, image]));
  const listed = [];
  for (const image of images) {
    const { height, width } = getDefined(sizes.get(image.id), `image ${image.id}`);
    listed.push({ file: await findImageFile(getDefined(unkeyed.images, 'images'), image), imageId: image.id, height, width });
  }
  return { images: listed, dataset };
}

/** The first `count` images, and their annotations. @throws DetectionError for data sets. */
export async function readImages(
  annotations: string,
  count: number | undefined,
): Promise<{ readonly images: readonly ListedImage[]; readonly dataset: CocoDataset }> {
  const file = await readDataFile(annotations);
  const images = takeFirstImages(listImages(file), count);
  return { images, dataset: takeImages(parseCocoDataset(file), new Set(images.map(image => image.id))) };
}
