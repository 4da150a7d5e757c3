/** The result of building a stage again and comparing its outputs. `build`: which further build it was, if it was not a second run. */

import type { Failure } from './failure.js';
import type { StageId } from './plan.js';

export type CheckResult =
  /** Every output has the same bytes as the stage's result. */
  | { readonly verdict: 'same'; readonly stage: StageId }
  | { readonly verdict: 'different'; readonly stage: StageId; readonly differences: readonly Difference[]; readonly build?: string }
  /** The stage declares that its bytes may vary. It was not run again. */
  | { readonly verdict: 'measured'; readonly stage: StageId }
  /** The second run failed or an input changed during it. Nothing could be compared. */
  | { readonly verdict: 'failed'; readonly stage: StageId; readonly failure: Failure; readonly build?: string }
  /** Its action is another one, because the stage `because` before it measures or gave other bytes. */
  | { readonly verdict: 'not-compared'; readonly stage: StageId; readonly because: StageId; readonly build?: string }
  | { readonly verdict: 'cancelled'; readonly stage: StageId };

/** `path` is the path of the output under artifacts/<stage>/, or of an entry in it. */
export type Difference =
  /** `offset` of the first different byte, counted from 0. If one file is a prefix of the other, it is the size of the shorter one. */
  | { readonly kind: 'bytes'; readonly path: string; readonly offset: number; readonly sizes: readonly [number, number] }
  | { readonly kind: 'missing'; readonly path: string }
  | { readonly kind: 'new'; readonly path: string }
  /** The type differs: a file became a folder or a link, an executable became a plain file, or a link has another target. */
  | { readonly kind: 'form'; readonly path: string; readonly forms: readonly [string, string] }
  /** The digests differ, and the bytes of the first result are no longer available. */
  | { readonly kind: 'unread'; readonly path: string }
  /** A part that was computed again has different bytes than the stored one. */
  | { readonly kind: 'part'; readonly path: string };
