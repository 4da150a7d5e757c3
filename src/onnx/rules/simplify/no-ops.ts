/** Simplify rules that remove nodes whose output equals their input. Exact. */
import { findDTypeByOnnx } from '../../../tensor/dtype.js';
import { findInts, getInt } from '../../ir/attribute.js';
import type { ValueId } from '../../ir/model.js';
import { patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';
import type { Known } from '../../shape-inference/context/node-context.js';

type Patched = ReturnType<RewriteRule['rewrite']>;

/** Replaces the root's output by `value`. */
function passThrough(match: Match, value: ValueId): Patched {
  if (match.node.outputs.slice(1).some(output => output !== undefined && match.useCount(output) > 0))
    return decline('another output of the node is read', match.node);
  return patch({ replace: [[match.output(), value]] });
}

function haveEqualDims(a: Known, b: Known): boolean {
  if (a.dims === undefined || b.dims === undefined || a.dims.length !== b.dims.length) return false;
  return a.dims.every((dim, axis) => dim !== undefined && dim === b.dims?.[axis]);
}

function rule(name: string, opTypes: string | readonly string[], proofText: string, rewrite: (match: Match) => Patched): RewriteRule {
  return { name, proof: 'exact', proofText, pattern: op(opTypes, { inputs: [any('x')] }), rewrite };
}

export const removeIdentity = rule('remove-identity', 'Identity', 'Identity copies its input.', match =>
  passThrough(match, match.value('x')),
);

export const removeDropout = rule('remove-dropout', 'Dropout', 'Dropout in inference mode copies its input.', match => {
  if (match.opset < 7 && getInt(match.node, 'is_test', 0) === 0) return decline('it is in training mode (is_test is 0)', match.node);
  if (match.node.inputs[2] !== undefined) return decline('its training mode is an input', match.node);
  return passThrough(match, match.value('x'));
});

export const removeCast = rule('remove-cast', 'Cast', 'A Cast to the dtype of its input copies it.', match => {
  const to = findDTypeByOnnx(getInt(match.node, 'to', 0));
  if (match.type(match.value('x')).dtype === undefined) return decline('the dtype of its input is not known', match.node);
  if (match.type(match.value('x')).dtype !== to) return decline('it changes the dtype', match.node);
  return passThrough(match, match.value('x'));
});

export const removeReshape = rule(
  'remove-reshape',
  ['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Expand'],
  'A reshape to the shape of its input copies it.',
  match => {
    if (!haveEqualDims(match.type(match.value('x')), match.type(match.output())))
      return decline('it changes the shape, or the shape is not known', match.node);
    return passThrough(match, match.value('x'));
  },
);

export const removeTranspose = rule('remove-transpose', 'Transpose', 'A Transpose that moves no axis copies its input.', match => {
  const perm = findInts(match.node, 'perm');
  const rank = match.type(match.value('x')).dims?.length;
  const moves = perm === undefined ? rank === undefined || rank > 1 : perm.some((axis, index) => axis !== index);
  return moves ? decline('it moves axes', match.node) : passThrough(match, match.value('x'));
});

export const removeJoinOfOne = rule(
  'remove-join-of-one',
  ['Concat', 'Sum', 'Max', 'Min', 'Mean'],
  'These operators copy a single input.',
  match => (match.node.inputs.length === 1 ? passThrough(match, match.value('x')) : decline('it has several inputs', match.node)),
);

/** The integers of an attribute or, in later opsets, of a constant input. */
function integersOf(match: Match, attribute: string, input: number): readonly number[] | undefined {
  return findInts(match.node, attribute) ?? findIntegers(match.constantOf(match.node.inputs[input]));
}

export const removePad = rule('remove-pad', 'Pad', 'A Pad with zero pads copies its input.', match => {
  const pads = integersOf(match, 'pads', 1);
  if (pads === undefined) return decline('its pads are not constant', match.node);
  return pads.every(pad => pad === 0) ? passThrough(match, match.value('x')) : decline('it has pads', match.node);
});

export const removeSlice = rule('remove-slice', 'Slice', 'A Slice that takes all elements in order copies its input.', match => {
  const steps = match.node.inputs[4] === undefined ? [1] : findIntegers(match.constantOf(match.node.inputs[4]));
  if (steps?.every(step => step === 1) !== true) return decline('its steps are not all 1', match.node);
  if (!haveEqualDims(match.type(match.value('x')), match.type(match.output())))
    return decline('it takes only some elements, or a shape is not known', match.node);
  return passThrough(match, match.value('x'));
});

export const removePool = rule('remove-pool', ['MaxPool', 'AveragePool'], 'A pool over single elements copies its input.', match => {
  const one = (name: string): boolean => (findInts(match.node, name) ?? [1]).every(value => value === 1);
  if (!one('kernel_shape') || !one('strides')) return decline('its kernel or stride is not 1', match.node);
  if ((findInts(match.node, 'pads') ?? []).some(pad => pad !== 0)) return decline('it has pads', match.node);
  return passThrough(match, match.value('x'));
});

export const NO_OP_RULES: readonly RewriteRule[] = [
  removeIdentity,
  removeDropout,
  removeCast,
  removeReshape,
  removeTranspose,
  removeJoinOfOne,
  removePad,
  removeSlice,
  removePool,
];
