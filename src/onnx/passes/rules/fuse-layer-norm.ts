/** Which nodes are a LayerNormalization? (x − mean) / √(variance + ε), times a factor, plus an offset, over the last axes. */
import { findInts, float, getInt, int } from '../../ir/attribute.js';
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findNumber } from '../../rewrite/rules/numbers.js';
import { findIntegers } from '../../shape-inference/constant-elements.js';

/** LayerNormalization is an operator from opset 17. */
const LAYER_NORMALIZATION = 17;

export const fuseLayerNorm: RewriteRule = {
  name: 'fuse-layer-norm',
  proof: 'rounding',
  proofText: 'The nodes compute (x − mean)/√(variance + ε)·γ + β as LayerNormalization does; its kernel sums in another order.',
  pattern: op('Add', {
    inputs: [
      op('Mul', {
        name: 'scaled',
        inputs: [op('Div', { name: 'normal', inputs: [any('centred'), any('deviation')] }), constant('gamma')],
        order: 'commutative',
      }),
      constant('beta'),
    ],
    order: 'commutative',
  }),
  rewrite(match) {
    if (match.opset < LAYER_NORMALIZATION) return decline(`LayerNormalization is there from opset ${LAYER_NORMALIZATION}`, match.node);
    const found = findNormalization(match);
    if (typeof found === 'string') return decline(found, match.node);
    const dims = match.type(found.x).dims;
    if (match.type(found.x).dtype !== 'float32') return decline('it is not float32', match.node);
    const axis = firstAxis(found.axes, dims?.length);
    if (axis === undefined || dims === undefined) return decline('it does not normalize over the last axes', match.node);
    const shape = dims.slice(axis);
    const fits = (name: string): boolean => {
      const given = match.constant(name).dims;
      return given.length === shape.length && given.every((dim, index) => dim === shape[index]);
    };
    if (!fits('gamma') || !fits('beta')) return decline('factor and offset are not of the shape that is normalized', match.node);
    const node = newNode('LayerNormalization', {
      name: match.node.name,
      inputs: [found.x, match.value('gamma'), match.value('beta')],
      attributes: { axis: int(axis - dims.length), epsilon: float(found.epsilon) },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

interface Normalization {
  readonly x: ValueId;
  readonly axes: readonly number[];
  readonly epsilon: number;
  readonly nodes: readonly Node[];
}

function findNormalization(match: Match): Normalization | string {
  const centred = match.value('centred');
  const subtract = match.producerOf(centred, 'Sub');
  const [x, meanValue] = subtract?.inputs ?? [];
  const mean = match.producerOf(meanValue, 'ReduceMean');
  if (subtract === undefined || x === undefined || mean?.inputs[0] !== x) return 'what is divided is not x − mean(x)';
  const root = match.producerOf(match.value('deviation'), 'Sqrt');
  const add = match.producerOf(root?.inputs[0], 'Add');
  const [varianceValue, epsilonValue] = add?.inputs ?? [];
  const epsilon = findNumber(match.constantOf(epsilonValue));
  const variance = match.producerOf(varianceValue, 'ReduceMean');
  if (root === undefined || add === undefined || variance === undefined || epsilon === undefined) return 'the divisor is not √(mean + ε)';
  const square = match.producerOf(variance.inputs[0], 'Pow') ?? match.producerOf(variance.inputs[0], 'Mul');
  if (square === undefined || !squares(match, square, centred)) return 'the variance is not that of x';
  const [axes, varianceAxes] = [axesOf(match, mean), axesOf(match, variance)];
  if (axes === undefined || axes.join() !== varianceAxes?.join()) return 'mean and variance are taken over other axes';
  return { x, axes, epsilon, nodes: [root, add, variance, square, subtract, mean] };
}

function squares(match: Match, node: Node, value: ValueId): boolean {
  if (node.opType === 'Mul') return node.inputs[0] === value && node.inputs[1] === value;
  return node.inputs[0] === value && findNumber(match.constantOf(node.inputs[1])) === 2;
}

function axesOf(match: Match, node: Node): readonly number[] | undefined {
  if (getInt(node, 'keepdims', 1) !== 1) return undefined;
  return findInts(node, 'axes') ?? findIntegers(match.constantOf(node.inputs[1]));
}

/** The first of the last axes that `axes` are, without a gap. */
function firstAxis(axes: readonly number[], rank: number | undefined): number | undefined {
  if (rank === undefined) return undefined;
  const sorted = axes.map(axis => (axis < 0 ? axis + rank : axis)).sort((a, b) => a - b);
  const first = rank - sorted.length;
  return sorted.length > 0 && sorted.every((axis, index) => axis === first + index) ? first : undefined;
}
