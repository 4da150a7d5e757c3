/** Rewrite rules `gelu-sigmoid`, `mish-sigmoid` and `softplus-relu`: approximations of smooth activations by Sigmoid or Relu. `silu-hard-swish` and `sigmoid-hard` can then be applied to the result. */
import type { Node, ValueId } from '../../../ir/model.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/constants.js';
import { findGelu } from '../../shared/find-gelu.js';

/** Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, section 2. */
const GELU_SLOPE = 1.702;
/** The slope with the least maximum difference from Mish, found by search over −12 … 12. */
const MISH_SLOPE = 1.252;

/** Rule `gelu-sigmoid`. */
export const geluToSigmoid: RuleCode = {
  proofText: 'x · sigmoid(1.702 x) replaces x · Φ(x): the difference is at most 0.021, near ±2.27.',
  pattern: op(['Gelu', 'Mul']),
  rewrite(match) {
    if (match.node.opType === 'Gelu') return gateBy(match, match.node.inputs[0], GELU_SLOPE, []);
    const found = findGelu(match);
    return found === undefined
      ? decline('it is not a product of x, 1 + erf(x/√2) and 1/2', match.node)
      : gateBy(match, found.x, GELU_SLOPE, found.nodes);
  },
};

/** Rule `mish-sigmoid`. (Misra, Mish, 2019: x · tanh(log(1 + eˣ)).) */
export const mishToSigmoid: RuleCode = {
  proofText: 'x · sigmoid(1.252 x) replaces x · tanh(softplus(x)): the difference is at most 0.103, near 1.56.',
  pattern: op(['Mish', 'Mul']),
  rewrite(match) {
    if (match.node.opType === 'Mish') return gateBy(match, match.node.inputs[0], MISH_SLOPE, []);
    const found = findMish(match);
    return found === undefined
      ? decline('it is not a product of x and tanh(softplus(x))', match.node)
      : gateBy(match, found.x, MISH_SLOPE, found.nodes);
  },
};

/** Rule `softplus-relu`. */
export const softplusToRelu: RuleCode = {
  proofText: 'max(0, x) replaces log(1 + eˣ): it is smaller by at most log 2, at 0.',
  pattern: op('Softplus', { inputs: [any('x')] }),
  rewrite(match) {
    const node = newNode('Relu', { name: match.node.name, inputs: [match.value('x')] });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

function findMish(match: Match): { readonly x: ValueId; readonly nodes: readonly Node[] } | undefined {
  const [a, b] = match.node.inputs;
  for (const [x, gate] of [
    [a, b],
    [b, a],
  ]) {
    const tanh = match.producerOf(gate, 'Tanh');
    const softplus = match.producerOf(tanh?.inputs[0], 'Softplus');
    if (x !== undefined && tanh !== undefined && softplus?.inputs[0] === x) return { x, nodes: [tanh, softplus] };
  }
  return undefined;
}

function gateBy(match: Match, x: ValueId | undefined, slope: number, also: readonly Node[]): ReturnType<RuleCode['rewrite']> {
  if (x === undefined || match.type(x).dtype !== 'float32') return decline('its input is not float32', match.node);
  const rank = match.type(x).dims?.length;
  if (rank === undefined || rank !== match.type(match.output()).dims?.length)
    return decline('a constant may raise the rank of the result', match.node);
  const { name } = match.node;
  const scaled = newNode('Mul', {
    name: name && `${name}/scale`,
    inputs: [x, newFloats(`${match.nameOf(match.output())}_slope`, [], [slope])],
  });
  const gate = newNode('Sigmoid', { name: name && `${name}/gate`, inputs: [outputOf(scaled)] });
  const product = newNode('Mul', { name, inputs: [x, outputOf(gate)] });
  return patch({ add: [scaled, gate, product], replace: [[match.output(), outputOf(product)]], also });
}
