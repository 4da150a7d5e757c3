/** What does a `quantize` stage set? */
import type { QdqDomain } from '../../src/quant/insert-qdq.js';
import type { Exclusion } from '../../src/quant/quantize-model.js';
import type { PresetName, QuantizationScheme } from '../../src/quant/scheme.js';

export interface QuantizeParams {
  readonly preset: PresetName;
  /** Single knobs turned. */
  readonly activation: Partial<QuantizationScheme['activation']>;
  readonly weight: Partial<QuantizationScheme['weight']>;
  /** Undefined: the preset's. */
  readonly opTypes?: readonly string[];
  readonly exclude: readonly Exclusion[];
  readonly qdqDomain: QdqDomain;
}
