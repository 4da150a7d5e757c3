/** What all parts of `sensitivity` depend on. */
import type { PairManifest } from '../../src/quant/recovery/model-pair.js';

export interface SensitivityManifest extends PairManifest {
  /** Digest of the names of the values where steps end, and of the outputs, which pair the models. */
  readonly steps: string;
}
