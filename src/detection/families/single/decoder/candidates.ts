/** What does a decoder find, before anything is selected? Boxes in the network's input, with scores and classes. */
import type { Boxes } from '../../../geometry/boxes.js';
import type { ImageSize } from '../../../image/image-size.js';
import type { Sides } from './box-sides.js';

export interface Candidates {
  /** x1 y1 x2 y2 in pixels of the network's input. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Counted from 0, in the order of the recipe's categories. */
  readonly classes: Int32Array;
  /** 'inclusive': x2 and y2 are the last pixels of the object; 'exclusive' where absent. */
  readonly corners?: 'exclusive' | 'inclusive';
  /** Per candidate a square of probabilities over its box. */
  readonly masks?: CandidateMasks | undefined;
}

export interface CandidateMasks {
  readonly side: number;
  /** [candidates, side, side] */
  readonly data: Float32Array;
  /** Probability above which a pixel belongs to the object. */
  readonly threshold: number;
}

/** What a decoder is told besides its settings. */
export interface DecodeContext {
  readonly input: ImageSize;
  /** Number of classes. */
  readonly classes: number;
  /** Candidates at or below it need not be given. */
  readonly scoreThreshold: number;
  /** 'best': a place's best class alone is a candidate. 'all': each class above the threshold is one. */
  readonly labels: 'best' | 'all';
}

/** Where a place's scores are looked at, and its box is computed only when it counts. */
export interface CandidateWriter {
  /** The scores of one place, in the order of the classes; `writeBox` is called once where any is above the threshold. */
  add(scores: ArrayLike<number>, box: () => Sides): void;
  finish(): Candidates;
}

export function makeCandidateWriter({ scoreThreshold, labels }: Pick<DecodeContext, 'scoreThreshold' | 'labels'>): CandidateWriter {
  const boxes: number[] = [];
  const scores: number[] = [];
  const classes: number[] = [];
  const least = Math.fround(scoreThreshold);
  return {
    add(found, box) {
      const wanted = labels === 'best' ? bestOf(found, least) : allAbove(found, least);
      if (wanted.length === 0) return;
      const sides = box();
      for (const label of wanted) {
        boxes.push(...sides);
        scores.push(found[label] as number);
        classes.push(label);
      }
    },
    finish: () => ({ boxes: Float32Array.from(boxes), scores: Float32Array.from(scores), classes: Int32Array.from(classes) }),
  };
}

/** The first of the greatest. NaN is no score. */
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
