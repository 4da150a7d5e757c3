/** What does the observed part take for one image? A kept part of the work gives it; images with too few RoIs are left out. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { encodeRecipe, type MaskRcnnPart, type Recipe } from '../../src/detection/recipe.js';
import type { DetectorConfig } from '../../src/detection/torchvision/config.js';
import { digestModelContent } from '../../src/onnx/digest.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { sessionManifest } from '../../src/runtime/session.js';
import type { Context } from '../../src/stage/context.js';
import { StageError } from '../../src/stage/stage-error.js';
import { imageInputPart } from './image-input-part.js';
import { INPUT_FILE, readInput, roiFile } from './input-file.js';
import type { CalibrateParams } from './params.js';
import { DETECTOR_SESSION, roiInputPart } from './roi-input-part.js';

/** What one image gives: a file with the part's input, its first axis `rows` long; or nothing, and why. */
export type SampleInput =
  | { readonly kind: 'input'; readonly path: string; readonly rows: number }
  | { readonly kind: 'left-out'; readonly reason: string };

export type FindInput = (imagePath: string) => Promise<SampleInput>;

export interface InputRequest {
  readonly part: MaskRcnnPart;
  readonly recipe: Recipe;
  readonly config: DetectorConfig;
  /** Paths of the float parts. */
  readonly detector: Readonly<Record<string, string>> | undefined;
  readonly rois: CalibrateParams['rois'];
  readonly context: Context;
}

/** @throws StageError `detector-missing` where a head is observed and no detector gives its RoIs. */
export async function openInputs(request: InputRequest): Promise<FindInput> {
  const base = { recipe: encodeRecipe(request.recipe), config: request.config as unknown as JsonObject };
  return request.part === 'backbone' ? imageInputs(request, base) : roiInputs(request, request.part, base);
}

type BaseManifest = { readonly recipe: JsonObject; readonly config: JsonObject };

function imageInputs({ context }: InputRequest, manifest: BaseManifest): FindInput {
  return async image => {
    const { files } = await context.memo(imageInputPart, { manifest, blobs: { image } });
    return { kind: 'input', path: getDefined(files[INPUT_FILE], INPUT_FILE), rows: 1 };
  };
}

async function roiInputs({ context, detector, rois }: InputRequest, part: MaskRcnnPart, base: BaseManifest): Promise<FindInput> {
  if (detector === undefined) {
    throw new StageError('detector-missing', `part "${part}" takes RoI features, and no detector is connected that gives them`, {
      help: 'connect the float parts: detector: {backbone: …, box_head: …, mask_head: …}',
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
    const rows = (await readInput(path)).dims[0] ?? 0;
    if (rows >= rois.min) return { kind: 'input', path, rows };
    return { kind: 'left-out', reason: `it has ${rows} RoI${rows === 1 ? '' : 's'}, fewer than ${rois.min}` };
  };
}

async function digestOf(detector: Readonly<Record<string, string>>, part: MaskRcnnPart): Promise<string> {
  return digestModelContent(await readModel(getDefined(detector[part], part)));
}
