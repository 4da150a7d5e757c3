/** What does a classifier say of one image? Its best classes, with their scores. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json, JsonObject } from '../../src/base/json.js';
import { fields, integer, list, number, readJsonShape } from '../../src/base/json-shape.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { topK } from '../../src/detection/geometry/top-k.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { type Preprocessing, preprocessImage } from '../../src/detection/image/preprocessing.js';
import type { Session, SessionOptions } from '../../src/runtime/session/session.js';
import { StageError } from '../../src/stage/stage-error.js';
import { formatShape } from '../../src/tensor/shape.js';

/** What is the same for all images of a run. */
export interface ClassifySettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** What else of the session can change results. */
  readonly session: JsonObject;
  readonly input: { readonly name: string; readonly height: number | null; readonly width: number | null };
  readonly output: string;
  readonly preprocess: Preprocessing & JsonObject;
}

export interface BestClasses {
  /** How many classes there are. */
  readonly of: number;
  /** Up to five, the best first; of equal scores the lower class. */
  readonly classes: readonly number[];
  readonly scores: readonly number[];
}

const KEPT = 5;

/** @throws StageError `class-scores` where the output is no row of finite scores; those of images and of the session. */
export async function classifyImage(session: Session, path: string, { input, output, preprocess }: ClassifySettings): Promise<BestClasses> {
  const image = await decodeImage(await readFile(path), basename(path));
  const size = { height: input.height ?? undefined, width: input.width ?? undefined };
  const { tensor } = preprocessImage(image, size, preprocess);
  const scores = (await session.run({ [input.name]: tensor }, [output]))[output];
  const classes = scores?.data.length ?? 0;
  if (scores?.dtype !== 'float32' || classes < 2 || scores.dims.reduce((most, dim) => Math.max(most, dim), 1) !== classes)
    throw new StageError(
      'class-scores',
      `output "${output}" is ${scores?.dtype ?? 'not there'} ${formatShape(scores?.dims ?? [])}, not one row of float32 scores`,
      {
        help: 'name the output with the scores: `output`',
      },
    );
  if (!scores.data.every(Number.isFinite)) throw new StageError('class-scores', `a score of output "${output}" is no finite number`);
  const best = Array.from(topK(scores.data, KEPT));
  return { of: classes, classes: best, scores: best.map(label => scores.data[label] ?? 0) };
}

const reader = fields<BestClasses>({ of: integer(2), classes: list(integer(0)), scores: list(number()) });

/** What a kept part wrote. @throws DetectionError `bad-prediction`. */
export function parseBestClasses(value: Json): BestClasses {
  const read = readJsonShape(reader, value);
  if (read.kind === 'ok') return read.value;
  throw new DetectionError('bad-prediction', 'a kept prediction cannot be read', { help: 'build the stage again with `--force`' });
}
