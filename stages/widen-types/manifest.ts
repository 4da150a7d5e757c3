/** What every trial of `widen-types` depends on besides the set of wider types. */
import type { JsonObject } from '../../src/base/json.js';

export interface TrialBase extends JsonObject {
  /** Digests of the files, with names, because overrides name tensors. */
  readonly model: string;
  readonly sketches: string;
  /** The params of `quantize`. */
  readonly quantize: JsonObject;
  readonly session: JsonObject;
  /** What biases are corrected on; absent where they are kept. */
  readonly biases?: CapturedSamples;
}

export interface CapturedSamples extends JsonObject {
  /** Digest of the samples. */
  readonly samples: string;
  readonly arrays: readonly string[];
}

/** Paths of what every part reads, by role. */
export type TrialPaths = Readonly<Record<'model' | 'sketches' | 'scratch', string>> & Readonly<Record<string, string>>;
