/** Contradictions between settings that are found without a model, while planning. */
import type { OverrideKnobs } from './overrides.js';
import type { BiasScheme } from './scheme.js';
import { isFixedRange } from './tensor-settings.js';

/** Contradictions inside one override, one sentence each. */
export function checkKnobs({ scale, zeroPoint, range, bias }: OverrideKnobs): string[] {
  const problems: string[] = [];
  if (scale !== undefined && range !== undefined) problems.push('scale and range cannot be set together');
  if (zeroPoint !== undefined && scale === undefined) problems.push('zeroPoint is set without scale');
  if (range !== undefined && isFixedRange(range) && range.low > range.high)
    problems.push(`range: low ${range.low} is above high ${range.high}`);
  if (bias !== undefined) problems.push(...checkBias(bias).map(problem => `bias: ${problem}`));
  return problems;
}

/** int8 and int16 are too small for product scales. */
export function checkBias({ dtype, scale }: Partial<BiasScheme>): string[] {
  if (scale !== 'product' || dtype === undefined || dtype === 'int32' || dtype === 'float32') return [];
  return [`${dtype} is too small for a bias with scale product: set dtype int32 or scale power-of-two`];
}
