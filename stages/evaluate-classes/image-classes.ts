/** The part of `evaluate-classes` that classifies one image. Its results are stored per image and model, independent of the label. */

import { getDefined } from '../../src/base/invariant.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import type { PartJob } from '../../src/stage/context.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { makeOpenOrReuse, stampFile } from '../../src/stage/reuse-open.js';
import { type ClassifySettings, classifyImage } from './classify-image.js';

/** Takes the blobs `model` and `image`. */
export const imageClasses = defineJsonPart<ClassifySettings>({
  name: 'image-classes',
  version: 1,
  module: import.meta.url,
  compute: async job => classifyImage(await getSession(job), getDefined(job.blobs.image, 'blob image'), job.manifest),
});

const reuse = makeOpenOrReuse<Session>();

async function getSession({ manifest, blobs }: PartJob<ClassifySettings>): Promise<Session> {
  const path = getDefined(blobs.model, 'blob model');
  const { optimization, session } = manifest;
  return reuse(JSON.stringify([optimization, session, ...(await stampFile(path))]), () => openSession(path, { optimization }));
}
