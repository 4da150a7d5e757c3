/** Classifies one image: its best classes with their scores. */
import { integer, list, number, object } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { topK } from '../../src/detection/geometry/top-k.js';
import { type ImageNetworkSettings, runImageNetwork } from '../../src/detection/image-network.js';
import type { Session } from '../../src/runtime/session/session.js';
import { StageError } from '../../src/stage/stage-error.js';
import { formatShape } from '../../src/tensor/shape.js';

const BEST_CLASSES_SCHEMA = object({
  of: integer(2, 'Number of classes.'),
  classes: list(integer(0), 'Up to five classes by falling score; equal scores by ascending class.'),
  scores: list(number()),
});

export type BestClasses = FromSchema<typeof BEST_CLASSES_SCHEMA>;

export const readBestClasses = readerOf(BEST_CLASSES_SCHEMA);

const KEPT = 5;

/** @throws StageError `class-scores` where the output is not one row of finite scores; as `runImageNetwork`. */
export async function classifyImage(session: Session, path: string, settings: ImageNetworkSettings): Promise<BestClasses> {
  const { output: name } = settings;
  const { output: scores } = await runImageNetwork(session, path, settings);
  const classes = scores?.data.length ?? 0;
  if (scores?.dtype !== 'float32' || classes < 2 || scores.dims.reduce((most, dim) => Math.max(most, dim), 1) !== classes)
    throw new StageError(
      'class-scores',
      `output "${name}" is ${scores?.dtype ?? 'missing'} ${formatShape(scores?.dims ?? [])}, expected one row of float32 scores`,
      { help: 'set `output` to the name of the output with the scores' },
    );
  if (!scores.data.every(Number.isFinite)) throw new StageError('class-scores', `output "${name}" has a score that is not finite`);
  const best = Array.from(topK(scores.data, KEPT));
  return { of: classes, classes: best, scores: best.map(label => scores.data[label] ?? 0) };
}
