/** Trials of the fixes for a compiled model: what each would change, and where the pipeline can take it. */
import type { Advice } from '../../target/advice/advice.js';
import type { RewritePlace } from '../project/compiled-model.js';

/** What the process that tries the fixes is asked. Paths are absolute. */
export interface TrialOrder {
  readonly model: string;
  /** The user's target profile; undefined for a built-in one. */
  readonly profile: string | undefined;
  readonly target?: string;
  readonly device?: string;
  readonly dtype?: string;
  readonly software?: string;
  readonly undocumented: 'cpu' | 'npu';
  readonly largerBatch: 'cpu' | 'npu';
  readonly pin: Readonly<Record<string, number>>;
}

export interface TrialView {
  readonly advice: Advice;
  readonly rewrite: RewritePlace;
}
