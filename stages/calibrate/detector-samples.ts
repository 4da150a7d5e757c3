/** What does a part of a detector see of each image? A kept part of the work gives it; images with too few RoIs are left out. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { ImageSource } from '../../src/detection/data-source.js';
import { findImageFile } from '../../src/detection/image-list.js';
import { encodeRecipe, type MaskRcnnPart, type Recipe } from '../../src/detection/recipe.js';
import type { DetectorConfig } from '../../src/detection/torchvision/config.js';
import { digestModelContent } from '../../src/onnx/digest.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { sessionManifest } from '../../src/runtime/session.js';
import type { Context } from '../../src/stage/context.js';
import { StageError } from '../../src/stage/stage-error.js';
import { readNpz } from '../../src/tensor/npz.js';
import { type CalibrationSample, type SampleInput, tooFewRows } from './calibration-sample.js';
import { imageInputPart } from './image-input-part.js';
import type { CalibrateParams } from './params.js';
import { DETECTOR_SESSION, roiInputPart } from './roi-input-part.js';
import { INPUT_ARRAY, INPUT_FILE, ONE_INPUT, roiFile } from './sample-file.js';

export interface DetectorRequest {
  readonly part: MaskRcnnPart;
  readonly recipe: Recipe;
  readonly config: DetectorConfig;
  /** Paths of the float parts. */
  readonly detector: Readonly<Record<string, string>> | undefined;
  readonly rois: CalibrateParams['rois'];
  readonly context: Context;
}

type FindInput = (imagePath: string) => Promise<SampleInput>;

/** @throws StageError `detector-missing` where a head is observed and no detector gives its RoIs. */
export async function openDetectorSamples({ images, folder }: ImageSource, request: DetectorRequest): Promise<CalibrationSample[]> {
  const base = { recipe: encodeRecipe(request.recipe), config: request.config as unknown as JsonObject };
  const find = request.part === 'backbone' ? imageInputs(request, base) : await roiInputs(request, request.part, base);
  return images.map(image => ({
    id: String(image.id),
    source: image.fileName,
    label: `image ${image.id} (${image.fileName})`,
    find: async () => find(await findImageFile(folder, image)),
  }));
}

type BaseManifest = { readonly recipe: JsonObject; readonly config: JsonObject };

function imageInputs({ context }: DetectorRequest, manifest: BaseManifest): FindInput {
  return async image => {
    const { files } = await context.memo(imageInputPart, { manifest, blobs: { image } });
    return { kind: 'input', file: { path: getDefined(files[INPUT_FILE], INPUT_FILE), feeds: ONE_INPUT }, rows: 1 };
  };
}

async function roiInputs({ context, detector, rois }: DetectorRequest, part: MaskRcnnPart, base: BaseManifest): Promise<FindInput> {
  if (detector === undefined) {
    throw new StageError('detector-missing', `part "${part}" takes RoI features, and no detector is connected that gives them`, {
      help: 'connect captured tensors, or the float parts: detector: {backbone: …, box_head: …, mask_head: …}',
    });
  }
  const models = {
    backbone: await digestOf(detector, 'backbone'),
    box_head: await digestOf(detector, 'box_head'),
    mask_head: await digestOf(detector, 'mask_head'),
  };
  const manifest = { ...base, models, session: sessionManifest(DETECTOR_SESSION), maxRois: rois.max };
  return async image => {
    const { files } = await context.memo(roiInputPart, { manifest, blobs: { image }, unkeyed: detector });
    const path = getDefined(files[roiFile(part)], roiFile(part));
    const rows = (await readNpz(path)).get(INPUT_ARRAY).dims[0] ?? 0;
    return rows >= rois.min ? { kind: 'input', file: { path, feeds: ONE_INPUT }, rows } : tooFewRows(rows, rois.min);
  };
}

async function digestOf(detector: Readonly<Record<string, string>>, part: MaskRcnnPart): Promise<string> {
  return digestModelContent(await readModel(getDefined(detector[part], part)));
}
