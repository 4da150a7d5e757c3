/** What does a classifier say of one image? Kept on its own: the same model and the same image are never run twice, whatever its label. */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { Json } from '../../src/base/json.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import { definePart, type PartJob } from '../../src/stage/context.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { type ClassifySettings, classifyImage } from './classify-image.js';

export const CLASSES_FILE = 'classes.json';

/** Blobs `model` and `image`. */
export const imageClasses = definePart<ClassifySettings>({
  name: 'image-classes',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  run: async job => {
    const best = await classifyImage(await getSession(job), getDefined(job.blobs.image, 'blob image'), job.manifest);
    await writeJsonFile(join(job.folder, CLASSES_FILE), best as unknown as Json);
    return [CLASSES_FILE];
  },
});

/** The session of the last call stays open while the same model is asked for. */
let opened: { readonly key: string; readonly session: Session } | undefined;

async function getSession({ manifest, blobs }: PartJob<ClassifySettings>): Promise<Session> {
  const path = getDefined(blobs.model, 'blob model');
  // A path alone does not tell that a file is the same as before.
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  const key = JSON.stringify([manifest.optimization, manifest.session, path, mtimeMs, ctimeMs, size, ino]);
  if (opened?.key === key) return opened.session;
  const previous = opened;
  opened = undefined;
  await previous?.session.close();
  const session = await openSession(path, { optimization: manifest.optimization });
  opened = { key, session };
  return session;
}
