/** The summary of a build for a stage: the stages before it with their connections, outcomes and durations. */
import type { Figure } from '../base/figure.js';

/**
 * Given to a plugin that declares `needs: 'build-summary'`. Graph, keys, artifacts and gates are part of the stage's key. Outcomes and times are not,
 * because they differ between builds: such a stage describes the build that ran it.
 */
export type BuildSummary = {
  /** Every direct or indirect dependency of this stage, in topological order. */
  readonly stages: readonly SummarizedStage[];
  /** The direct inputs of this stage. */
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
  /** Duration of the run that produced the result, in this or an earlier build. */
  readonly durationMs: number;
};

export type SummarizedInput =
  | { readonly kind: 'artifact'; readonly port: string; readonly entry?: string; readonly stage: string; readonly output: string }
  /** `source` is its name in the pipeline file. */
  | { readonly kind: 'source'; readonly port: string; readonly entry?: string; readonly source: string };

export type SummarizedOutput = { readonly port: string; readonly kind: string; readonly digest: string; readonly sizeBytes: number };

export type SummarizedGate = {
  readonly metric: string;
  readonly operator: '>=' | '<=' | '>' | '<' | '==';
  readonly bound: number;
  /** Absent if the stage's metrics have no such figure. */
  readonly value?: Figure;
  readonly verdict: 'met' | 'missed';
  /** Of a missed gate, if the stage states any. */
  readonly reasons?: readonly string[];
};
