/**
 * Simplify rules `merge-transposes`, `merge-reshapes`, `reshape-before-transpose` and `fix-reshape`: adjacent Transposes or reshapes become one, and
 * computed shapes become constants.
 */
import { encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { findInts, ints } from '../../ir/attribute.js';
import type { Dim, Node } from '../../ir/model.js';
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
const RESHAPES_AND_TRANSPOSE = [...RESHAPES, 'Transpose'];

export const mergeReshapes: RewriteRule = {
  name: 'merge-reshapes',
  proof: 'exact',
  proofText: 'Of two reshapes in sequence, only the second determines the shape. A Transpose that moves only dims of size 1 is a reshape.',
  pattern: op(RESHAPES_AND_TRANSPOSE, { inputs: [op(RESHAPES_AND_TRANSPOSE, { name: 'first', inputs: [any('x')] })] }),
  rewrite(match) {
    const [first, second] = [match.inner('first'), match.node];
    if (first.opType === 'Transpose' && second.opType === 'Transpose') return decline('both are Transposes', second);
    for (const node of [first, second]) if (!isReshape(match, node)) return decline('a Transpose moves dims larger than 1', node);
    return reshapeTo(match);
  },
};

/** Whether `node` keeps the order of the elements. */
function isReshape(match: Match, node: Node): boolean {
  if (node.opType !== 'Transpose') return true;
  const [x] = node.inputs;
  const dims = x === undefined ? undefined : match.type(x).dims;
  if (dims === undefined) return false;
  const perm = findInts(node, 'perm') ?? dims.map((_, axis) => dims.length - 1 - axis);
  const moved = perm.filter(axis => dims[axis] !== 1);
  return moved.every((axis, index) => index === 0 || axis > (moved[index - 1] ?? 0));
}

export const reshapeBeforeTranspose: RewriteRule = {
  name: 'reshape-before-transpose',
  proof: 'exact',
  proofText: 'A reshape that adds or removes only dims of size 1 can be done by the reshape before the Transpose that it reads.',
  pattern: op(RESHAPES, {
    inputs: [op('Transpose', { name: 'transpose', inputs: [op(RESHAPES, { name: 'first', inputs: [any('x')] })] })],
  }),
  rewrite(match) {
    const transpose = match.inner('transpose');
    const [wanted, given, between] = [outputDims(match), dimsOf(match, match.node.inputs[0]), dimsOf(match, transpose.inputs[0])];
    if (wanted === undefined || given === undefined || between === undefined) return decline('a shape is not known', match.node);
    const plan = planUnits({
      wanted,
      given,
      between,
      perm: findInts(transpose, 'perm') ?? between.map((_, axis) => between.length - 1 - axis),
    });
    if (plan === undefined) return decline('it changes dims other than those of size 1', match.node);
    if (match.opset < 5) return decline('it needs opset 5, from which on Reshape takes its shape as an input', match.node);
    const shape = constantShape(plan.dims);
    if (shape === undefined) return decline('more than one dim of the result is not known', match.node);
    const target = newConstant(`${match.nameOf(match.output())}_shape`, encodeRawTensor(makeTensor('int64', [shape.length], shape)));
    const reshape = newNode('Reshape', { name: match.node.name, inputs: [match.value('x'), target] });
    const moved = newNode('Transpose', { name: transpose.name, inputs: [outputOf(reshape)], attributes: { perm: ints(plan.perm) } });
    return patch({ add: [reshape, moved], replace: [[match.output(), outputOf(moved)]] });
  },
};

const dimsOf = (match: Match, value: Node['inputs'][number]): readonly Dim[] | undefined =>
  value === undefined ? undefined : match.type(value).dims;

/**
 * The dims before the Transpose, and its permutation, so that it gives `wanted`: dims of size 1 are added at their final place.
 * undefined if `wanted` and `given` differ by more than dims of size 1.
 */
function planUnits({
  wanted,
  given,
  between,
  perm,
}: Readonly<Record<'wanted' | 'given' | 'between', readonly Dim[]>> & { readonly perm: readonly number[] }):
  | { readonly dims: readonly Dim[]; readonly perm: readonly number[] }
  | undefined {
  const large = (dims: readonly Dim[]): readonly Dim[] => dims.filter(dim => dim !== 1);
  const [left, right] = [large(wanted), large(given)];
  if (left.length !== right.length || left.some((dim, index) => dim === undefined || dim !== right[index])) return undefined;
  const places = wanted.flatMap((dim, axis) => (dim === 1 ? [] : [axis]));
  /** Axes of `between` larger than 1, in order: the one at position k comes to `places[k]`. */
  const sources = between.flatMap((dim, axis) => (dim === 1 ? [] : [axis]));
  const placeOf = new Map(sources.map((axis, index) => [axis, places[index] ?? 0]));
  const dims = wanted.map((dim, axis): Dim => (dim === 1 ? 1 : between[sources[places.indexOf(axis)] ?? 0]));
  const moved = perm.filter(axis => between[axis] !== 1).map(axis => placeOf.get(axis) ?? 0);
  return { dims, perm: wanted.map((dim, axis) => (dim === 1 ? axis : (moved[places.indexOf(axis)] ?? 0))) };
}

export const fixReshape = fixComputedShape({
  name: 'fix-reshape',
  proofText: 'A computed shape with at most one unknown dim is a constant with −1 for that dim.',
  rewrite: match => reshapeTo(match),
});

export const fixFreeReshape = fixComputedShape({
  name: 'fix-free-reshape',
  proofText: 'A computed shape is a constant with 0 for dims that it keeps, and −1 for at most one other unknown dim.',
  rewrite: match => reshapeTo(match, copyingShape(match, outputDims(match))),
});

function fixComputedShape({ name, proofText, rewrite }: Pick<RewriteRule, 'name' | 'proofText' | 'rewrite'>): RewriteRule {
  return {
    name,
    proof: 'exact',
    proofText,
    pattern: op('Reshape', { inputs: [any('x'), any('shape')] }),
    rewrite: match =>
      match.constantOf(match.find('shape')) === undefined ? rewrite(match) : decline('its shape is already constant', match.node),
  };
}

/** One Reshape of "x" to the shape of the root's output. */
function reshapeTo(match: Match, shape = constantShape(outputDims(match))): ReturnType<RewriteRule['rewrite']> {
  if (match.opset < 5) return decline('it needs opset 5, from which on Reshape takes its shape as an input', match.node);
  if (shape === undefined) return decline('more than one dim of the result is not known', match.node);
  const target = newConstant(`${match.nameOf(match.output())}_shape`, encodeRawTensor(makeTensor('int64', [shape.length], shape)));
  const node = newNode('Reshape', { name: match.node.name, inputs: [match.value('x'), target] });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

/**
 * The requested dims with 0 for those that equal the dim of "x" at their place, and −1 for at most one other. Beside a dim of 0, −1 would have no size, so it needs
 * dims of the model's inputs, or the −1 of the original.
 */
function copyingShape(match: Match, dims: readonly Dim[] | undefined): BigInt64Array | undefined {
  const given = dimsOf(match, match.value('x'));
  const [, shape] = match.node.inputs;
  const requested = match.node.opType === 'Reshape' && shape !== undefined ? match.type(shape).elements : undefined;
  if (dims === undefined || given === undefined || dims.includes(0)) return undefined;
  const wanted = dims.map(
    (dim, axis): Dim => (typeof dim === 'number' ? dim : (nameAt(requested, axis) ?? nameAt(match.type(match.output()).dims, axis))),
  );
  const isKept = wanted.map((dim, axis) => typeof dim === 'string' && dim === given[axis]);
  const others = wanted.flatMap((dim, axis) => (typeof dim === 'number' || isKept[axis] === true ? [] : [axis]));
  const isSafe =
    others.every(axis => requested?.[axis] === -1) || wanted.every((dim, axis) => isKept[axis] !== true || isInputDim(match, dim));
  if (others.length > 1 || !isSafe) return undefined;
  return BigInt64Array.from(wanted, (dim, axis) => (isKept[axis] === true ? 0n : typeof dim === 'number' ? BigInt(dim) : -1n));
}

function nameAt(dims: readonly Dim[] | undefined, axis: number): string | undefined {
  const dim = dims?.[axis];
  return typeof dim === 'string' ? dim : undefined;
}

const isInputDim = (match: Match, dim: Dim): boolean => typeof dim === 'string' && match.isInputDim(dim);

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
