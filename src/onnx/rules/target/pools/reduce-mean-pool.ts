/** Rewrite rule `reduce-mean-pool`: ReduceMean over height and width becomes GlobalAveragePool. */
import { findInts, getInt, int } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findIntegers } from '../../../shape-inference/context/constant-elements.js';
import { findQuantizer, requantize } from '../../shared/requantize.js';

/** From this opset on, ReduceMean takes its axes as an input. */
const AXES_INPUT = 18;

/** For an input [N, C, H, W] and axes 2 and 3. If `keepdims` is 0, a Flatten follows. */
export const reduceMeanToPool: RuleCode = {
  proofText: 'GlobalAveragePool computes the same mean over height and width; the sums round in another order.',
  pattern: op('ReduceMean', { inputs: [any('x')] }),
  rewrite(match) {
    const rank = match.type(match.value('x')).dims?.length;
    if (rank !== 4)
      return decline(rank === undefined ? 'the rank of its input is not known' : `the rank of its input is ${rank}, not 4`, match.node);
    const { dtype } = match.type(match.value('x'));
    if (dtype !== 'float32' && dtype !== 'float16' && dtype !== 'float64')
      return decline(`its input has ${dtype === undefined ? 'an unknown dtype' : `dtype ${dtype}`}; expected a float`, match.node);
    const axes = axesOf(match)?.map(axis => (axis < 0 ? axis + rank : axis));
    if (axes === undefined) return decline('its axes are not constant', match.node);
    if ([...axes].sort().join() !== '2,3') return decline(`its axes are [${axes.join(', ')}], not [2, 3]`, match.node);
    const { name } = match.node;
    const pool = newNode('GlobalAveragePool', { name, inputs: [match.value('x')] });
    if (getInt(match.node, 'keepdims', 1) !== 0) return patch({ add: [pool], replace: [[match.output(), outputOf(pool)]] });
    const requantized = requantize(outputOf(pool), findQuantizer(match, match.output()), name);
    const flat = newNode('Flatten', {
      name: name && `${name}/flatten`,
      inputs: [outputOf(requantized.at(-1) ?? pool)],
      attributes: { axis: int(1) },
    });
    return patch({ add: [pool, ...requantized, flat], replace: [[match.output(), outputOf(flat)]] });
  },
};

function axesOf(match: Match): readonly number[] | undefined {
  return match.opset < AXES_INPUT ? findInts(match.node, 'axes') : findIntegers(match.constantOf(match.node.inputs[1]));
}
