/** The end of a stage in a build: its outcome and its result. */
import type { JsonObject } from '../../base/json.js';
import type { AcceptedStage } from './accepted-stage.js';
import type { Outcome } from './outcome.js';

/** `accepted` is the result that dependent stages use; absent if the stage did not succeed. */
export interface StageEnd {
  readonly outcome: Outcome;
  readonly accepted: AcceptedStage | undefined;
  /** Metrics of the result that was replaced. */
  readonly previousMetrics?: JsonObject | undefined;
  /** What a skipped stage made from the inputs that exist. It is no result. */
  readonly partial?: PartialResult | undefined;
}

export interface PartialResult {
  /** Absolute path of the folder with the outputs, each under the name of its artifact. */
  readonly folder: string;
  /** The stages whose results it lacks. */
  readonly without: readonly string[];
}

export const cancelled: StageEnd = { outcome: { kind: 'cancelled' }, accepted: undefined };
