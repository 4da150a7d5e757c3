/** The part of `evaluate-classes` that classifies one image. Its results are stored per image and model, independent of the label. */

import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { makeOpenOrReuse, stampFile } from '../../src/stage/reuse-open.js';
import { type ClassifySettings, classifyImage } from './classify-image.js';

export const CLASSES_FILE = 'classes.json';

/** Takes the blobs `model` and `image`. */
export const imageClasses = definePart<ClassifySettings>({
  name: 'image-classes',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  run: async job => {
    const best = await classifyImage(await getSession(job), getDefined(job.blobs.image, 'blob image'), job.manifest);
    await writeJsonFile(join(job.folder, CLASSES_FILE), best);
    return [CLASSES_FILE];
  },
});

const reuse = makeOpenOrReuse<Session>();

async function getSession({ manifest, blobs }: PartJob<ClassifySettings>): Promise<Session> {
  const path = getDefined(blobs.model, 'blob model');
  const { optimization, session } = manifest;
  return reuse(JSON.stringify([optimization, session, ...(await stampFile(path))]), () => openSession(path, { optimization }));
}
