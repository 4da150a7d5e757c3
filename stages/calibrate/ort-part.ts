/** The stage part that counts the elements of one sample in onnxruntime.quantization's bins. It runs one inference. */

import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { encodeSampleCounts, parseBinnings } from '../../src/quant/ort-compat/ort-codec.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { openObservedModel } from './observed-model.js';
import { type FeedsManifest, readFeeds } from './sample-file.js';

export interface OrtManifest extends JsonObject {
  /** Content digest of the model, without names. */
  readonly model: string;
  readonly session: JsonObject;
  readonly feeds: FeedsManifest;
  /** Bins of every value, by address. They follow from the ranges of all samples. */
  readonly binnings: JsonObject;
}

export const ortPart = defineJsonPart<OrtManifest>({
  name: 'calibrate-ort-counts',
  version: 1,
  module: import.meta.url,
  async compute({ manifest, blobs, unkeyed }) {
    const { model, sketcher } = await openObservedModel(manifest.model, getDefined(unkeyed.model, 'model'));
    const counts = await sketcher.count(
      await readFeeds(model, getDefined(blobs.input, 'input'), manifest.feeds),
      parseBinnings(manifest.binnings),
    );
    return encodeSampleCounts(counts);
  },
});
