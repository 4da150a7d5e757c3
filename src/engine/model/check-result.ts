/** What came of running a stage once more? */

import type { Failure } from './failure.js';
import type { StageId } from './plan.js';

export type CheckResult =
  /** Every output has the bytes of the stage's result. */
  | { readonly verdict: 'same'; readonly stage: StageId }
  | { readonly verdict: 'different'; readonly stage: StageId; readonly differences: readonly Difference[] }
  /** The stage says of itself that its bytes may vary: it was not run again. */
  | { readonly verdict: 'measured'; readonly stage: StageId }
  /** The second run failed, or an input changed meanwhile: nothing could be compared. */
  | { readonly verdict: 'failed'; readonly stage: StageId; readonly failure: Failure }
  | { readonly verdict: 'cancelled'; readonly stage: StageId };

/** `path`: of the output under artifacts/<stage>/, or of an entry in it. */
export type Difference =
  /** `offset` counts from 0; where one file is the other's beginning it is the shorter one's size. */
  | { readonly kind: 'bytes'; readonly path: string; readonly offset: number; readonly sizes: readonly [number, number] }
  | { readonly kind: 'gone'; readonly path: string }
  | { readonly kind: 'new'; readonly path: string }
  /** A file became a folder or a link, an executable a plain file, or a link leads elsewhere. */
  | { readonly kind: 'form'; readonly path: string; readonly forms: readonly [string, string] }
  /** The digests differ, and the first result's bytes are no longer to be had. */
  | { readonly kind: 'unread'; readonly path: string }
  /** A part of the work, computed again, has other bytes than the kept one. */
  | { readonly kind: 'part'; readonly path: string };
