/** What all parts of `sensitivity` depend on. */
import type { JsonObject } from '../../src/base/json.js';

export interface SensitivityManifest extends JsonObject {
  /** Content digests, without names. */
  readonly float: string;
  readonly quantized: string;
  /** Names of the values where steps end, and of the outputs, which pair the models. */
  readonly steps: string;
  readonly samples: string;
  readonly arrays: readonly string[];
  readonly session: JsonObject;
}
