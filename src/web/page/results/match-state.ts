/** What the page has of a comparison after each answer of its worker. */
import { assertNever } from '../../../base/assert-never.js';
import { ApiError } from '../api/client.js';
import type { MatchAnswer } from './match-worker.js';
import type { ImageMasks, ListedImage, MatchResult } from './result-types.js';

export interface OutlinedMasks {
  readonly image: number;
  readonly masks?: ImageMasks;
  /** Why there are none, or not all. */
  readonly problem?: string;
}

export interface MatchState {
  /** What is compared. */
  readonly key: string;
  /** Grows where a file is another one than was matched: all is matched again. */
  readonly reading: number;
  /** Whether all was matched again for that reason, and no masks were outlined since. */
  readonly isRepeated: boolean;
  readonly images?: readonly ListedImage[];
  readonly result?: MatchResult;
  readonly error?: ApiError;
  readonly masks?: OutlinedMasks;
}

export const NOTHING_MATCHED: MatchState = { key: '', reading: 0, isRepeated: false };

/** The state for `key`, which knows nothing if another key was compared before. */
export function stateOf(before: MatchState, key: string): MatchState {
  return before.key === key ? before : { key, reading: before.reading, isRepeated: false };
}

const CHANGED_TWICE = 'a file was changed while it was matched, and again after that; reload the page';

/** A file that is another one once more is a problem of the masks: what matches again without end shows nothing. */
export function afterAnswer(before: MatchState, answer: Exclude<MatchAnswer, { kind: 'not-fetched' }>): MatchState {
  const { key, reading, isRepeated } = before;
  switch (answer.kind) {
    case 'images':
      return { key, reading, isRepeated, images: answer.images };
    case 'matched':
      return { key, reading, isRepeated, result: answer.result };
    case 'problem':
      return { key, reading, isRepeated, error: new ApiError(0, 'internal', answer.message) };
    case 'masks':
      return { ...before, isRepeated: false, masks: answer };
    case 'no-masks':
      return { ...before, masks: { image: answer.image, problem: answer.message } };
    case 'changed':
      if (isRepeated) return { ...before, masks: { image: answer.image, problem: CHANGED_TWICE } };
      return { ...before, reading: reading + 1, isRepeated: true };
    default:
      return assertNever(answer);
  }
}
