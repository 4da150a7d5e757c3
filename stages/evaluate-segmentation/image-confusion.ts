/** The part of `evaluate-segmentation` that measures one image. Its results are stored per image, mask and model. */

import { getDefined } from '../../src/base/invariant.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { makeOpenFile } from '../../src/stage/reuse-open.js';
import { type MeasureSettings, measureImage } from './measure-image.js';

const openModel = makeOpenFile<Session>();

/** Takes the blobs `model`, `image` and `mask`. */
export const imageConfusion = defineJsonPart<MeasureSettings>({
  name: 'image-confusion',
  version: 1,
  module: import.meta.url,
  compute: async ({ manifest, blobs }) => {
    const { optimization, session } = manifest;
    const model = getDefined(blobs.model, 'blob model');
    const opened = await openModel(model, { optimization, session }, () => openSession(model, { optimization }));
    return measureImage(opened, { image: getDefined(blobs.image, 'blob image'), mask: getDefined(blobs.mask, 'blob mask') }, manifest);
  },
});
