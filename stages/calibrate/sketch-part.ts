/** The stage part that sketches one sample's activations, cached per model, input and platform class. */

import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { encodeSampleSketches } from '../../src/quant/calibration/model-sketches.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { openObservedModel } from './observed-model.js';
import { type FeedsManifest, readFeeds } from './sample-file.js';

export interface SketchManifest extends JsonObject {
  /** Content digest of the model, without names. */
  readonly model: string;
  readonly session: JsonObject;
  readonly feeds: FeedsManifest;
  readonly channels: 'none' | 'each';
}

export const sketchPart = defineJsonPart<SketchManifest>({
  name: 'calibrate-sketch',
  version: 2,
  module: import.meta.url,
  async compute({ manifest, blobs, unkeyed }) {
    const { model, sketcher } = await openObservedModel(manifest.model, getDefined(unkeyed.model, 'model'));
    const sketches = await sketcher.sample(await readFeeds(model, getDefined(blobs.input, 'input'), manifest.feeds), manifest.channels);
    return encodeSampleSketches(sketches);
  },
});
