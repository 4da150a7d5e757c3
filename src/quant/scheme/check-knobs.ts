/** Which knobs contradict each other whatever the model is? Told while planning. */
import type { OverrideKnobs } from './overrides.js';
import type { BiasScheme } from './scheme.js';
import { isFixedRange } from './tensor-settings.js';

/** What contradicts itself in an override alone; one sentence each. */
export function checkKnobs({ scale, zeroPoint, range, bias }: OverrideKnobs): string[] {
  const problems: string[] = [];
  if (scale !== undefined && range !== undefined) problems.push('scale and range: a scale leaves no range to choose');
  if (zeroPoint !== undefined && scale === undefined) problems.push('zeroPoint without scale');
  if (range !== undefined && isFixedRange(range) && range.low > range.high)
    problems.push(`range: low ${range.low} is above high ${range.high}`);
  if (bias !== undefined) problems.push(...checkBias(bias).map(problem => `bias: ${problem}`));
  return problems;
}

/** int8 and int16 have no room for products of scales. */
export function checkBias({ dtype, scale }: Partial<BiasScheme>): string[] {
  if (scale !== 'product' || dtype === undefined || dtype === 'int32' || dtype === 'float32') return [];
  return [`${dtype} has no room for a bias at the scale of products: set dtype int32, or scale power-of-two`];
}
