/** Classifies one image: its best classes with their scores. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { readJsonShape } from '../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import { integer, list, number, object } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { topK } from '../../src/detection/geometry/top-k.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { preprocessImage } from '../../src/detection/image/preprocessing.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing-schema.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { StageError } from '../../src/stage/stage-error.js';
import { formatShape } from '../../src/tensor/shape.js';

/** Settings that all images of a run share. */
export interface ClassifySettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
  readonly input: { readonly name: string; readonly height: number | null; readonly width: number | null };
  readonly output: string;
  readonly preprocess: Preprocessing & JsonObject;
}

const BEST_CLASSES_SCHEMA = object({
  of: integer(2, 'Number of classes.'),
  classes: list(integer(0), 'Up to five classes by falling score; equal scores by ascending class.'),
  scores: list(number()),
});

export type BestClasses = FromSchema<typeof BEST_CLASSES_SCHEMA>;

const KEPT = 5;

/** @throws StageError `class-scores` where the output is not one row of finite scores; as `decodeImage` and `Session.run`. */
export async function classifyImage(session: Session, path: string, { input, output, preprocess }: ClassifySettings): Promise<BestClasses> {
  const image = await decodeImage(await readFile(path), basename(path));
  const size = { height: input.height ?? undefined, width: input.width ?? undefined };
  const { tensor } = preprocessImage(image, size, preprocess);
  const scores = (await session.run({ [input.name]: tensor }, [output]))[output];
  const classes = scores?.data.length ?? 0;
  if (scores?.dtype !== 'float32' || classes < 2 || scores.dims.reduce((most, dim) => Math.max(most, dim), 1) !== classes)
    throw new StageError(
      'class-scores',
      `output "${output}" is ${scores?.dtype ?? 'missing'} ${formatShape(scores?.dims ?? [])}, expected one row of float32 scores`,
      {
        help: 'set `output` to the name of the output with the scores',
      },
    );
  if (!scores.data.every(Number.isFinite)) throw new StageError('class-scores', `output "${output}" has a score that is not finite`);
  const best = Array.from(topK(scores.data, KEPT));
  return { of: classes, classes: best, scores: best.map(label => scores.data[label] ?? 0) };
}

const reader = readerOf(BEST_CLASSES_SCHEMA);

/** Parses the file of a kept part. @throws DetectionError `bad-prediction`. */
export function parseBestClasses(value: Json): BestClasses {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  throw new DetectionError('bad-prediction', 'a kept prediction is invalid', { help: 'build the stage again with `--force`' });
}
