/** The part of `evaluate-segmentation` that measures one image. Its results are stored per image, mask and model. */

import { getDefined } from '../../src/base/invariant.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import type { PartJob } from '../../src/stage/context.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { makeOpenOrReuse, stampFile } from '../../src/stage/reuse-open.js';
import { type MeasureSettings, measureImage } from './measure-image.js';

/** Takes the blobs `model`, `image` and `mask`. */
export const imageConfusion = defineJsonPart<MeasureSettings>({
  name: 'image-confusion',
  version: 1,
  module: import.meta.url,
  compute: async job => {
    const { image, mask } = job.blobs;
    return measureImage(
      await getSession(job),
      { image: getDefined(image, 'blob image'), mask: getDefined(mask, 'blob mask') },
      job.manifest,
    );
  },
});

const reuse = makeOpenOrReuse<Session>();

async function getSession({ manifest, blobs }: PartJob<MeasureSettings>): Promise<Session> {
  const path = getDefined(blobs.model, 'blob model');
  const { optimization, session } = manifest;
  return reuse(JSON.stringify([optimization, session, ...(await stampFile(path))]), () => openSession(path, { optimization }));
}
