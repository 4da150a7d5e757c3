/** The part of `widen-types` that measures how far the detections with one set of wider types are from those of the float model. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { measureDetectionError } from '../../src/detection/compare/detection-error.js';
import { openParts } from '../../src/detection/detect-image.js';
import type { DetectedObjects, Detector } from '../../src/detection/detector/detector.js';
import { keepImages } from '../../src/detection/image/kept-images.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { openExact } from '../../src/quant/exact/open-exact.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { parseWidenedTypes, type WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { modelsOfRoles } from '../../src/stage/model-roles.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import { type DetectionManifest, listTrialImages } from './figures-part.js';
import { makeTrialModel, readQuantizer, type TrialRequest } from './quantize-trial.js';

export interface DetectionsManifest extends DetectionManifest {
  readonly types: WidenedTypes & JsonObject;
}

export const detectionsPart = defineJsonPart<DetectionsManifest>({
  name: 'widen-types-detections',
  version: 2,
  module: import.meta.url,
  async compute({ manifest, unkeyed, context }) {
    const { run, types } = manifest;
    const trial = await openOrReuse(JSON.stringify([run, manifest.data, unkeyed.scratch]), () => open(unkeyed, manifest));
    return trial.measure({ types: parseWidenedTypes(types), run, unkeyed, checkAbort: () => context.signal.throwIfAborted() });
  },
});

interface Trial extends Closable {
  /** Sums over all images. */
  measure(request: Omit<TrialRequest, 'quantizer'>): Promise<{ readonly error: number; readonly signal: number }>;
}

const openOrReuse = makeOpenOrReuse<Trial>();

/** Runs the float model once per image. */
async function open(unkeyed: Readonly<Record<string, string>>, manifest: DetectionsManifest): Promise<Trial> {
  const paths = { model: getDefined(unkeyed.model, 'model'), sketches: getDefined(unkeyed.sketches, 'sketches') };
  const { images } = await listTrialImages(unkeyed, manifest.images);
  const quantizer = await readQuantizer(paths, manifest.run.quantize as QuantizeParams);
  const openWith = (path: string): Promise<Detector> =>
    openParts({ ...modelsOfRoles(unkeyed), [manifest.part]: path }, manifest.detection, openExact);
  const readImage = keepImages();
  const detect = async (path: string, take: (objects: DetectedObjects, image: number) => void): Promise<void> => {
    const detector = await openWith(path);
    try {
      for (const [index, { file }] of images.entries()) take((await detector.trace(await readImage(file))).objects, index);
    } finally {
      await detector.close();
    }
  };
  const expected: DetectedObjects[] = [];
  await detect(paths.model, objects => expected.push(objects));
  return {
    async measure(request) {
      const path = join(getDefined(unkeyed.scratch, 'scratch'), 'trial.onnx');
      await writeModel(path, await makeTrialModel({ quantizer, ...request }));
      const sum = { error: 0, signal: 0 };
      try {
        await detect(path, (objects, image) => {
          request.checkAbort();
          const { error, signal } = measureDetectionError(getDefined(expected[image], 'detections of the float model'), objects);
          sum.error += error;
          sum.signal += signal;
        });
      } finally {
        await rm(path, { force: true });
      }
      return sum;
    },
    close: async () => undefined,
  };
}
