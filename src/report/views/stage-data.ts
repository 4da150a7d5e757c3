/** The details of one stage, as the page shows them. */
import type { Figure } from '../../base/figure.js';
import type { Json, JsonObject } from '../../base/json.js';
import type { StageRow } from './pipeline-data.js';

export type StageView = Pick<StageRow, 'id' | 'group' | 'plugin' | 'why' | 'outputs'> & {
  readonly version: number;
  readonly state: string;
  readonly description: string;
  /** Place of the stage in the pipeline file. */
  readonly file: string;
  readonly line: number;
  readonly determinism: string;
  readonly params: readonly ParamView[];
  readonly inputs: readonly InputView[];
  /** All figures of the present result, nested as the stage wrote them. */
  readonly metrics?: JsonObject;
  /** The key of the action that made the present result. */
  readonly key?: string;
  /** Newest first. */
  readonly history: readonly StageRunView[];
};

export type ParamView = {
  readonly name: string;
  readonly value: Json;
  readonly origin: Origin;
};

export type InputView = {
  readonly name: string;
  readonly from:
    | { readonly kind: 'source'; readonly path: string }
    | { readonly kind: 'artifact'; readonly stage: string; readonly port: string };
  /** The content that the present result was made from; absent if it is not known any more. */
  readonly digest?: string;
  /** Whether it was a folder. */
  readonly tree?: boolean;
};

export type StageRunView = {
  readonly run: string;
  readonly started: string;
  readonly outcome: string;
  readonly reasons: readonly string[];
  readonly durationMs?: number;
  readonly peakBytes?: number;
  readonly metrics: Readonly<Record<string, Figure>>;
  readonly failure?: string;
};

export type Origin =
  /** The file does not set it. */
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly line: number }
  /** `refers`: the references, such as "preset" or "item.rules". */
  | { readonly kind: 'reference'; readonly line: number; readonly refers: readonly string[] };
