/** What the page's process tells a process that builds for it, and hears from it. */
import type { PipelineOptions } from './open-plan.js';

/** The command by which the page starts such a process; not for direct use. */
export const TAKE_ORDER = '__take-order';

/** The argument with which such a process is started, as JSON: to run a command, or to get ready for one. */
export type StartOrder =
  | { readonly kind: 'run'; readonly words: readonly string[] }
  /** `workers`: main modules of the workers to start ahead. */
  | { readonly kind: 'wait'; readonly options: PipelineOptions; readonly workers: readonly string[] };

/** Sent to a process that waits. `words` are those after the program's name. */
export interface RunOrder {
  readonly words: readonly string[];
}

/** What it says at its end: `workers` are those that it wanted, for the next process to start ahead. */
export interface Ran {
  readonly workers: readonly string[];
}
