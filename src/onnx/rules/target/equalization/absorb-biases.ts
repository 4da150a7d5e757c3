/** Rewrite rule `absorb-biases`: the part of a channel that is above zero on all samples moves behind the Relu, so that its range shrinks. */
import { getDefined } from '../../../../base/invariant.js';
import { findInts, getFloat, getInt, getString } from '../../../ir/attribute.js';
import type { Node, ValueId } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/constants.js';
import { NO_RANGES } from '../../shared/no-ranges.js';
import { findLink } from './layer-chain.js';
import { readScalable, type ScalableLayer } from './scalable-layer.js';

/** relu(x) = relu(x − c) + c where x ≥ c ≥ 0. The root is the layer after the Relu. (High-bias absorption of Nagel et al. 2019, section 4.1.3.) */
export const absorbBiases: RuleCode = {
  proofText:
    'relu(x) = relu(x − c) + c for x ≥ c ≥ 0, which holds on the calibration samples; the next layer adds its weights times c to its bias.',
  pattern: op(['Conv', 'Gemm'], { inputs: [any('x'), constant('weight')] }),
  rewrite(match) {
    const { node } = match;
    const link = findLink(match, node);
    if (typeof link === 'string') return decline(link, node);
    const obstacle = findObstacle(node, link.nodes);
    if (obstacle !== undefined) return decline(obstacle, node);
    const [head, tail] = [readScalable(match, link.head), readScalable(match, node, link.flattened)];
    if (typeof head === 'string') return decline(`the layer before it: ${head}`, node);
    if (typeof tail === 'string') return decline(tail, node);
    const lows = match.rangeOf(outputOfNode(head.node))?.channelLows;
    if (lows === undefined) return decline(`${NO_RANGES}; \`calibrate\` needs perChannel`, node);
    if (lows.length !== head.outputs || head.outputs !== tail.inputs)
      return decline('the layers have other channels than the sketch', node);
    const absorbed = lows.map(low => (Number.isFinite(low) && low > 0 ? low : 0));
    if (absorbed.every(value => value === 0)) return decline('no channel before the Relu is always above zero', node);
    return moveBiases(match, { head, tail, between: link.nodes }, absorbed);
  },
};

/** A constant passes behind Relu through what averages or selects whole windows. */
const PASSES_CONSTANTS = new Set(['AveragePool', 'Flatten', 'GlobalAveragePool', 'GlobalMaxPool', 'MaxPool']);

function findObstacle(tail: Node, [relu, ...others]: readonly Node[]): string | undefined {
  if (relu?.opType !== 'Relu') return 'no Relu is behind the layer before it';
  const moved = others.find(node => !PASSES_CONSTANTS.has(node.opType) || pads(node));
  if (moved !== undefined) return `a constant does not pass through ${moved.opType}${pads(moved) ? ' with pads' : ''}`;
  if (pads(tail)) return 'it pads with zeros, to which nothing can be added';
  return tail.opType === 'Gemm' && (getFloat(tail, 'alpha', 1) !== 1 || getFloat(tail, 'beta', 1) !== 1)
    ? 'its Gemm has alpha or beta'
    : undefined;
}

function pads(node: Node): boolean {
  return (
    (findInts(node, 'pads') ?? []).some(pad => pad !== 0) ||
    getString(node, 'auto_pad', 'NOTSET').startsWith('SAME') ||
    getInt(node, 'ceil_mode', 0) !== 0
  );
}

const outputOfNode = ({ outputs }: Node): ValueId => getDefined(outputs[0], 'output of a node');

interface LinkedLayers {
  readonly head: ScalableLayer;
  readonly tail: ScalableLayer;
  readonly between: readonly Node[];
}

/** Sums in double, rounded once. */
function moveBiases(match: Match, { head, tail, between }: LinkedLayers, absorbed: Float32Array): ReturnType<typeof patch> {
  const before = biasOf(head).map((value, channel) => value - (absorbed[channel] ?? 0));
  const after = biasOf(tail);
  for (let row = 0, at = 0; row < tail.rows; row++) {
    for (let column = 0; column < tail.columns; column++) {
      const [output, c] = [tail.outputAt(row, column), absorbed[tail.inputAt(row, column)] ?? 0];
      for (const end = at + tail.inner; at < end; at++) after[output] = (after[output] ?? 0) + (tail.weight.floats.data[at] ?? 0) * c;
    }
  }
  const add: PatchNode[] = [];
  const replace: (readonly [ValueId, Ref])[] = [];
  const put = (old: Node, inputs: readonly (Ref | undefined)[]): Ref => {
    const made = newNode(old.opType, { name: old.name, inputs, attributes: old.attributes });
    add.push(made);
    const output = outputOf(made);
    replace.push([outputOfNode(old), output]);
    return output;
  };
  const withBias = ({ node, bias }: ScalableLayer, x: Ref | undefined, values: Float64Array): Ref => {
    const name = bias === undefined ? `${match.nameOf(outputOfNode(node))}_bias` : match.nameOf(bias.value);
    return put(node, [x, node.inputs[1], newFloats(name, bias?.floats.dims ?? [values.length], values)]);
  };
  let x = withBias(head, head.node.inputs[0], before);
  for (const node of between) x = put(node, [x, ...node.inputs.slice(1)]);
  withBias(tail, x, after);
  return patch({ add, replace, also: [head.node, ...between] });
}

const biasOf = ({ bias, outputs }: ScalableLayer): Float64Array => Float64Array.from(bias?.floats.data ?? new Float64Array(outputs));
