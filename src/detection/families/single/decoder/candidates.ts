/** Decoded candidates before selection: boxes in the network's input, with scores and classes. */
import type { Boxes } from '../../../geometry/boxes.js';
import type { ImageSize } from '../../../image/image-size.js';
import type { Sides } from './box-sides.js';

export interface Candidates {
  /** x1 y1 x2 y2 in pixels of the network's input. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Class indices from 0, in the order of the recipe's categories. */
  readonly classes: Int32Array;
  /** 'inclusive': x2 and y2 are the last pixels of the object. Default: 'exclusive'. */
  readonly corners?: 'exclusive' | 'inclusive';
  /** Per candidate, a square grid of probabilities over its box, or coefficients of prototypes. */
  readonly masks?: SquareMasks | PrototypeMasks | undefined;
  readonly keypoints?: CandidateKeypoints | undefined;
}

/** Points of each candidate, in pixels of the network's input. */
export interface CandidateKeypoints {
  /** Points per candidate. */
  readonly count: number;
  /** [candidates, count, 3]: x, y and visibility. */
  readonly data: Float32Array;
}

/** A mask is the sum of prototypes over the whole input, weighted by the coefficients of the candidate. */
export interface PrototypeMasks {
  readonly kind: 'prototypes';
  /** [candidates, channels] */
  readonly coefficients: Float32Array;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  /** [channels, height, width] */
  readonly data: Float32Array;
  /** Pixels above this probability, the sigmoid of the sum, belong to the object. */
  readonly threshold: number;
}

export interface SquareMasks {
  readonly kind: 'squares';
  readonly side: number;
  /** [candidates, side, side] */
  readonly data: Float32Array;
  /** Pixels above this probability belong to the object. */
  readonly threshold: number;
}

/** Arguments of a decoder besides its settings. */
export interface DecodeContext {
  readonly input: ImageSize;
  /** Number of classes. */
  readonly classes: number;
  /** A decoder may omit candidates that do not exceed this score. */
  readonly scoreThreshold: number;
  /** 'best': only the best class of a position is a candidate. 'all': every class above the threshold is one. */
  readonly labels: 'best' | 'all';
}

/** Collects candidates. Boxes are computed only for positions with a sufficient score. */
export interface CandidateWriter {
  /** Adds the scores of one position, in the order of the classes. `box` is called once, where a score is above the threshold. */
  add(scores: ArrayLike<number>, box: () => Sides): void;
  finish(): WrittenCandidates;
}

export interface WrittenCandidates extends Candidates {
  /** Per candidate, the number of its position: the calls of `add` before it. */
  readonly positions: readonly number[];
}

export function makeCandidateWriter({ scoreThreshold, labels }: Pick<DecodeContext, 'scoreThreshold' | 'labels'>): CandidateWriter {
  const boxes: number[] = [];
  const scores: number[] = [];
  const classes: number[] = [];
  const positions: number[] = [];
  let position = -1;
  const least = Math.fround(scoreThreshold);
  return {
    add(found, box) {
      position++;
      const wanted = labels === 'best' ? bestOf(found, least) : allAbove(found, least);
      if (wanted.length === 0) return;
      const sides = box();
      for (const label of wanted) {
        boxes.push(...sides);
        scores.push(found[label] as number);
        classes.push(label);
        positions.push(position);
      }
    },
    finish: () => ({
      boxes: Float32Array.from(boxes),
      scores: Float32Array.from(scores),
      classes: Int32Array.from(classes),
      positions,
    }),
  };
}

/** The first class with the largest score above `least`. NaN is ignored. */
function bestOf(scores: ArrayLike<number>, least: number): readonly number[] {
  let best = -1;
  let most = least;
  for (let label = 0; label < scores.length; label++) {
    if ((scores[label] as number) > most) {
      most = scores[label] as number;
      best = label;
    }
  }
  return best < 0 ? [] : [best];
}

function allAbove(scores: ArrayLike<number>, least: number): readonly number[] {
  const above: number[] = [];
  for (let label = 0; label < scores.length; label++) if ((scores[label] as number) > least) above.push(label);
  return above;
}
