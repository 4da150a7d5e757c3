/** What may a stage know of the build that it runs in? The stages before it: how they are joined, how each ended, and how long its result took to make. */
import type { Figure } from '../base/figure.js';

/**
 * Given to a plugin that declares `needs: 'build-summary'`. Graph, keys, artifacts and gates are in the stage's key; outcomes and times are not, as they
 * differ from build to build: such a stage describes the build that ran it.
 */
export type BuildSummary = {
  /** Every stage that this one depends on, directly or not, in a topological order. */
  readonly stages: readonly SummarizedStage[];
  /** What this stage itself reads. */
  readonly reads: readonly SummarizedInput[];
};

export type SummarizedStage = {
  readonly stage: string;
  /** The name in the pipeline file, without "@item". */
  readonly group: string;
  readonly plugin: string;
  readonly determinism: 'exact' | 'measured';
  readonly reads: readonly SummarizedInput[];
  /** SHA-256 of the action manifest. */
  readonly key: string;
  readonly outputs: readonly SummarizedOutput[];
  readonly gates: readonly SummarizedGate[];
  /** In this build. */
  readonly outcome: 'up-to-date' | 'restored' | 'executed';
  /** Of the run that made the result, in whichever build that was. */
  readonly durationMs: number;
};

export type SummarizedInput =
  | { readonly kind: 'artifact'; readonly port: string; readonly entry?: string; readonly stage: string; readonly output: string }
  /** `source` is what the pipeline file calls it. */
  | { readonly kind: 'source'; readonly port: string; readonly entry?: string; readonly source: string };

export type SummarizedOutput = { readonly port: string; readonly kind: string; readonly digest: string; readonly sizeBytes: number };

export type SummarizedGate = {
  readonly metric: string;
  readonly operator: '>=' | '<=' | '>' | '<' | '==';
  readonly bound: number;
  /** Absent where the stage's metrics have no figure of that name. */
  readonly value?: Figure;
  readonly verdict: 'met' | 'missed';
};
