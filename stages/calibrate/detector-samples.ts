/** Calibration samples for a part of a detector: its inputs for each image, cached per image. Images with too few RoIs are skipped. */

import { getDefined } from '../../src/base/invariant.js';
import type { ImageSource } from '../../src/detection/data/data-source.js';
import { findImageFile } from '../../src/detection/data/image-list.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import { type DetectorPart, isFirstPart } from '../../src/detection/detector/detector-part.js';
import { checkModelNames } from '../../src/detection/open-detector.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { Context } from '../../src/stage/context.js';
import { StageError } from '../../src/stage/stage-error.js';
import { readNpz } from '../../src/tensor/formats/npz.js';
import { type CalibrationSample, type SampleInput, tooFewRows } from './calibration-sample.js';
import { imageInputPart } from './image-input-part.js';
import type { CalibrateParams } from './params.js';
import { DETECTOR_SESSION, roiInputPart } from './roi-input-part.js';
import { feedsOfPart, INPUT_FILE, roiFile } from './sample-file.js';

export interface DetectorRequest {
  /** The part to calibrate. */
  readonly model: Model;
  readonly part: DetectorPart;
  readonly definition: DetectorDefinition;
  /** Paths of the float parts. */
  readonly detector: Readonly<Record<string, string>> | undefined;
  readonly rois: CalibrateParams['rois'];
  readonly context: Context;
}

type FindInput = (imagePath: string) => Promise<SampleInput>;

/** @throws StageError `detector-missing` if a part after the first is calibrated and no detector is connected for its inputs. */
export async function openDetectorSamples({ images, folder }: ImageSource, request: DetectorRequest): Promise<CalibrationSample[]> {
  const find = isFirstPart(request.part, request.definition.parts) ? imageInputs(request) : await innerInputs(request);
  return images.map(image => ({
    id: String(image.id),
    source: image.fileName,
    label: `image ${image.id} (${image.fileName})`,
    find: async () => find(await findImageFile(folder, image)),
  }));
}

function imageInputs({ context, definition, model, part }: DetectorRequest): FindInput {
  const manifest = { definition: definition.files };
  const feeds = feedsOfPart(model, part);
  return async image => {
    const { files } = await context.memo(imageInputPart, { manifest, blobs: { image } });
    return { kind: 'input', file: { path: getDefined(files[INPUT_FILE], INPUT_FILE), feeds }, rows: 1 };
  };
}

async function innerInputs({ context, definition, model, part, detector, rois }: DetectorRequest): Promise<FindInput> {
  const { name } = part;
  const wanted = definition.parts;
  if (detector === undefined) {
    throw new StageError(
      'detector-missing',
      `part "${name}" needs ${part.rois === 'none' ? 'values of earlier parts' : 'RoI features'}, but no detector is connected to compute them`,
      {
        help: `connect captured tensors, or the float parts: detector: {${wanted.map(one => `${one.name}: …`).join(', ')}}`,
      },
    );
  }
  checkModelNames(detector, definition);
  const models: Record<string, string> = {};
  for (const one of wanted) models[one.name] = digestModelContent(await readModel(getDefined(detector[one.name], one.name)));
  const manifest = { definition: definition.files, models, session: sessionManifest(DETECTOR_SESSION), maxRois: rois.max };
  const feeds = feedsOfPart(model, part);
  return async image => {
    const { files } = await context.memo(roiInputPart, { manifest, blobs: { image }, unkeyed: detector });
    const path = getDefined(files[roiFile(name)], roiFile(name));
    if (part.rois === 'none') return { kind: 'input', file: { path, feeds }, rows: 1 };
    const rows = (await readNpz(path)).get(getDefined(part.values.inputs[0], 'an input')).dims[0] ?? 0;
    return rows >= rois.min ? { kind: 'input', file: { path, feeds }, rows } : tooFewRows(rows, rois.min);
  };
}
