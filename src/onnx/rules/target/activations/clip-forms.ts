/** Rewrite rule `clip`: Clip with both bounds given, or as Relu. */
import { float, getFloat } from '../../../ir/attribute.js';
import { newNode, outputOf, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

import { findNumber, newFloats } from '../../shared/constants.js';
import { NO_RANGES } from '../../shared/no-ranges.js';

/** From this opset on, Clip takes its bounds as inputs. */
const BOUNDS_INPUTS = 11;
const LARGEST = Math.fround(3.4028234663852886e38);

interface Bounds {
  readonly low: number | undefined;
  readonly high: number | undefined;
}

/** Form `bounds`: adds the missing bounds. */
export const completeClip: RuleCode = {
  proofText: 'A missing bound becomes the largest finite float of its sign, which changes no finite value.',
  pattern: op('Clip', { inputs: [any('x')] }),
  rewrite(match) {
    const bounds = findBounds(match);
    if ('kind' in bounds) return bounds;
    if (bounds.low !== undefined && bounds.high !== undefined) return decline('it has both bounds', match.node);
    const [low, high] = [bounds.low ?? -LARGEST, bounds.high ?? LARGEST];
    if (match.opset < BOUNDS_INPUTS) {
      const attributes = new Map([...match.node.attributes, ['min', float(low)] as const, ['max', float(high)] as const]);
      const clip = newNode('Clip', { name: match.node.name, inputs: [match.value('x')], attributes });
      return patch({ add: [clip], replace: [[match.output(), outputOf(clip)]] });
    }
    const base = match.nameOf(match.output());
    const bound = (index: number, what: string, value: number): Ref =>
      match.node.inputs[index] ?? newFloats(`${base}_${what}`, [], [value]);
    const clip = newNode('Clip', { name: match.node.name, inputs: [match.value('x'), bound(1, 'min', low), bound(2, 'max', high)] });
    return patch({ add: [clip], replace: [[match.output(), outputOf(clip)]] });
  },
};

/** Forms `relu` (only a Clip without upper bound) and `relu-unbounded` (an upper bound is dropped). */
export function clipToRelu(upper: 'unbounded' | 'any-bound'): RuleCode {
  return {
    proofText:
      upper === 'unbounded'
        ? 'Clip with lower bound 0 and no upper bound is Relu.'
        : 'Relu replaces Clip from 0 to a bound: values above the bound are kept. A calibrated range may still limit them.',
    pattern: op('Clip', { inputs: [any('x')] }),
    rewrite(match) {
      const bounds = findBounds(match);
      if ('kind' in bounds) return bounds;
      if (bounds.low !== 0) return decline(`its lower bound is ${bounds.low ?? 'absent'}, not 0`, match.node);
      if (upper === 'unbounded' && bounds.high !== undefined)
        return decline(`its upper bound is ${bounds.high}; the form relu-unbounded drops it`, match.node);
      const relu = newNode('Relu', { name: match.node.name, inputs: [match.value('x')] });
      return patch({ add: [relu], replace: [[match.output(), outputOf(relu)]] });
    },
  };
}

/** Form `relu-in-range`: no value of the calibration samples exceeds the upper bound. */
export const clipToReluInRange: RuleCode = {
  proofText:
    'On the calibration samples no value exceeds the upper bound, so that Relu gives the same; larger values of other inputs are kept.',
  keepsRanges: true,
  pattern: op('Clip', { inputs: [any('x')] }),
  rewrite(match) {
    const bounds = findBounds(match);
    if ('kind' in bounds) return bounds;
    if (bounds.low !== 0) return decline(`its lower bound is ${bounds.low ?? 'absent'}, not 0`, match.node);
    const seen = match.rangeOf(match.value('x'));
    if (seen === undefined) return decline(NO_RANGES, match.node);
    if (bounds.high !== undefined && seen.high > bounds.high)
      return decline(`its input was up to ${seen.high} on the calibration samples, above the bound ${bounds.high}`, match.node);
    const relu = newNode('Relu', { name: match.node.name, inputs: [match.value('x')] });
    return patch({ add: [relu], replace: [[match.output(), outputOf(relu)]] });
  },
};

function findBounds(match: Match): Bounds | Decline {
  if (match.type(match.value('x')).dtype !== 'float32') return decline('its input is not float32', match.node);
  if (match.opset < BOUNDS_INPUTS) {
    const bound = (name: string): number | undefined => (match.node.attributes.has(name) ? getFloat(match.node, name, 0) : undefined);
    return { low: bound('min'), high: bound('max') };
  }
  const [, low, high] = match.node.inputs;
  if ([low, high].some(value => value !== undefined && match.constantOf(value) === undefined))
    return decline('a bound is not constant', match.node);
  return { low: findNumber(match.constantOf(low)), high: findNumber(match.constantOf(high)) };
}
