/** Simplify rules `merge-transposes`, `merge-reshapes` and `fix-reshape`: adjacent Transposes or reshapes become one, and computed shapes become constants. */
import { encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { findInts, ints } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { newConstant, newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { isMadeDim } from '../../shape-inference/infer-shapes.js';

export const mergeTransposes: RewriteRule = {
  name: 'merge-transposes',
  proof: 'exact',
  proofText: 'Two Transposes in sequence are one Transpose.',
  pattern: op('Transpose', { inputs: [op('Transpose', { name: 'first', inputs: [any('x')] })] }),
  rewrite(match) {
    const rank = match.type(match.value('x')).dims?.length;
    if (rank === undefined) return decline('the rank of its input is not known', match.node);
    const reversed = Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
    const first = findInts(match.inner('first'), 'perm') ?? reversed;
    const second = findInts(match.node, 'perm') ?? reversed;
    const perm = second.map(axis => first[axis] ?? 0);
    const node = newNode('Transpose', { name: match.node.name, inputs: [match.value('x')], attributes: { perm: ints(perm) } });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

const RESHAPES = ['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze'];

export const mergeReshapes: RewriteRule = {
  name: 'merge-reshapes',
  proof: 'exact',
  proofText: 'Of two reshapes in sequence, only the second determines the shape.',
  pattern: op(RESHAPES, { inputs: [op(RESHAPES, { name: 'first', inputs: [any('x')] })] }),
  rewrite: match => reshapeTo(match, match.node.name),
};

export const fixReshape: RewriteRule = {
  name: 'fix-reshape',
  proof: 'exact',
  proofText: 'A computed shape with at most one unknown dim is a constant with −1 for that dim.',
  pattern: op('Reshape', { inputs: [any('x'), any('shape')] }),
  rewrite(match) {
    if (match.constantOf(match.find('shape')) !== undefined) return decline('its shape is already constant', match.node);
    return reshapeTo(match, match.node.name);
  },
};

/** One Reshape of "x" to the shape of the root's output. */
function reshapeTo(match: Match, name: string): ReturnType<RewriteRule['rewrite']> {
  const shape = constantShape(outputDims(match));
  if (match.opset < 5) return decline('it needs opset 5, from which on Reshape takes its shape as an input', match.node);
  if (shape === undefined) return decline('more than one dim of the result is not known', match.node);
  const target = newConstant(`${match.nameOf(match.output())}_shape`, encodeRawTensor(makeTensor('int64', [shape.length], shape)));
  const node = newNode('Reshape', { name, inputs: [match.value('x'), target] });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

/** Dims of the root's output. A dim that depends on a free dim of the model stays free, even if the model declares a number for it, as exporters do if only the inputs were made free. */
function outputDims(match: Match): readonly Dim[] | undefined {
  const { dims } = match.type(match.output());
  const [, shape] = match.node.inputs;
  const requested = shape === undefined || match.node.opType !== 'Reshape' ? undefined : match.type(shape).elements;
  return dims?.map((dim, axis) => (typeof requested?.[axis] === 'string' && !isMadeDim(requested[axis]) ? undefined : dim));
}

/** Dims with −1 for the only unknown one; undefined if there are several, or if a dim of 0 makes −1 ambiguous. */
function constantShape(dims: readonly Dim[] | undefined): BigInt64Array | undefined {
  if (dims === undefined || dims.includes(0)) return undefined;
  if (dims.filter(dim => typeof dim !== 'number').length > 1) return undefined;
  return BigInt64Array.from(dims, dim => (typeof dim === 'number' ? BigInt(dim) : -1n));
}
