/** Simplify rule `fuse-l2-normalization`: division by a ReduceL2 with a small lower bound becomes LpNormalization. */
import { findInts, getFloat, getInt, int } from '../../ir/attribute.js';
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';
import { findNumber } from '../shared/constants.js';

/** Exporters add a lower bound for the divisor, 1e-12 in torch.nn.functional.normalize; a larger bound has another meaning. */
const LARGEST_BOUND = 1.001e-12;

export const fuseL2Normalization: RewriteRule = {
  name: 'fuse-l2-normalization',
  proof: 'rounding',
  proofText:
    'x divided by its L2 norm along an axis is LpNormalization; its kernel rounds differently. Nonzero vectors with a norm below the bound of 1e-12 get norm 1.',
  pattern: op('Div', { inputs: [any('x'), any('length')] }),
  rewrite(match) {
    const x = match.value('x');
    const found = findNorm(match);
    if (found === undefined)
      return decline('its divisor is not the L2 norm of its dividend with a lower bound of at most 1e-12', match.node);
    const { dtype, dims } = match.type(x);
    if (dtype !== 'float32' || dims === undefined) return decline('its input is not a float32 tensor of known rank', match.node);
    const [axis, ...others] = axesOf(match, found.reduce) ?? [];
    if (axis === undefined || others.length > 0) return decline('the norm is not taken along one axis', match.node);
    if (getInt(found.reduce, 'keepdims', 1) !== 1) return decline('keepdims of the ReduceL2 is 0', match.node);
    const node = newNode('LpNormalization', { name: match.node.name, inputs: [x], attributes: { axis: int(axis), p: int(2) } });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** The ReduceL2 behind the divisor, through the lower bound and an Expand that exporters write. */
function findNorm(match: Match): { readonly reduce: Node; readonly nodes: readonly Node[] } | undefined {
  const nodes: Node[] = [];
  let value: ValueId | undefined = match.value('length');
  const expand = match.producerOf(value, 'Expand');
  if (expand !== undefined) {
    if (!keepsShape(match)) return undefined;
    nodes.push(expand);
    value = expand.inputs[0];
  }
  // Without a lower bound, a zero vector gives NaN; LpNormalization gives zeros.
  const clip = match.producerOf(value, 'Clip');
  if (clip === undefined || clip.inputs[2] !== undefined || clip.attributes.has('max')) return undefined;
  const low = match.opset < 11 ? getFloat(clip, 'min', Number.NaN) : findNumber(match.constantOf(clip.inputs[1]));
  if (low === undefined || !(low > 0 && low <= LARGEST_BOUND)) return undefined;
  const reduce = match.producerOf(clip.inputs[0], 'ReduceL2');
  return reduce === undefined || reduce.inputs[0] !== match.value('x') ? undefined : { reduce, nodes: [...nodes, clip, reduce] };
}

/** Whether the dividend has the shape of the result, so that the expanded divisor does not broadcast it. */
function keepsShape(match: Match): boolean {
  const [before, after] = [match.type(match.value('x')).dims, match.type(match.output()).dims];
  return before !== undefined && before.length === after?.length && before.every((dim, axis) => dim !== undefined && dim === after[axis]);
}

function axesOf(match: Match, reduce: Node): readonly number[] | undefined {
  return findInts(reduce, 'axes') ?? findIntegers(match.constantOf(reduce.inputs[1]));
}
