/** The part of `evaluate-classes` that classifies one image. Its results are stored per image and model, independent of the label. */

import { getDefined } from '../../src/base/invariant.js';
import type { ImageNetworkSettings } from '../../src/detection/image-network.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { makeOpenFile } from '../../src/stage/reuse-open.js';
import { classifyImage } from './classify-image.js';

const openModel = makeOpenFile<Session>();

/** Takes the blobs `model` and `image`. */
export const imageClasses = defineJsonPart<ImageNetworkSettings>({
  name: 'image-classes',
  version: 1,
  module: import.meta.url,
  compute: async ({ manifest, blobs }) => {
    const { optimization, session } = manifest;
    const model = getDefined(blobs.model, 'blob model');
    const opened = await openModel(model, { optimization, session }, () => openSession(model, { optimization }));
    return classifyImage(opened, getDefined(blobs.image, 'blob image'), manifest);
  },
});
