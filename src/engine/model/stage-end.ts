/** How did a stage end, and with which result? */
import type { JsonObject } from '../../base/json.js';
import type { AcceptedStage } from './accepted-stage.js';
import type { Outcome } from './outcome.js';

/** `accepted` is the result that its readers take; absent where the stage did not succeed. */
export interface StageEnd {
  readonly outcome: Outcome;
  readonly accepted: AcceptedStage | undefined;
  /** Metrics of the result that was replaced. */
  readonly previousMetrics?: JsonObject | undefined;
}

export const cancelled: StageEnd = { outcome: { kind: 'cancelled' }, accepted: undefined };
