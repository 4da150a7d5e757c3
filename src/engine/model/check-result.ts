/** What came of running a stage once more? */

import type { Difference } from '../schedule/differences.js';
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
