/** Rewrite rule `split-slice`: Split becomes one Slice per output. */
import { findInts, getInt, ints } from '../../../ir/attribute.js';
import type { Dim, ValueId } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newInts } from '../../shared/constants.js';

/** From this opset on, Slice takes starts, ends and axes as inputs instead of attributes. */
const SLICE_INPUTS = 10;

/** Outputs keep their names; unread outputs get no Slice. Between QuantizeLinear and DequantizeLinear, quantized values do not change. */
export const splitToSlices: RuleCode = {
  proofText: 'Each output of Split is a contiguous part of its input along one axis, which a Slice copies bit for bit.',
  pattern: op('Split', { inputs: [any('x')] }),
  rewrite(match) {
    const rank = match.type(match.value('x')).dims?.length;
    if (rank === undefined) return decline('the rank of its input is not known', match.node);
    const axis = getInt(match.node, 'axis', 0);
    const from = axis < 0 ? axis + rank : axis;
    const slices: [ValueId, PatchNode][] = [];
    let start = 0;
    for (const [index, output] of match.node.outputs.entries()) {
      const size = sizeOf(match, output, index, from);
      if (typeof size !== 'number') return decline(`dim ${from} of output ${index} is not known`, match.node);
      if (output !== undefined && match.useCount(output) > 0) slices.push([output, makeSlice(match, index, from, start, start + size)]);
      start += size;
    }
    return patch({ add: slices.map(([, slice]) => slice), replace: slices.map(([output, slice]) => [output, outputOf(slice)]) });
  },
};

function sizeOf(match: Match, output: ValueId | undefined, index: number, axis: number): Dim {
  return findInts(match.node, 'split')?.[index] ?? (output === undefined ? undefined : match.type(output).dims?.[axis]);
}

function makeSlice(match: Match, index: number, axis: number, start: number, end: number): PatchNode {
  const name = match.node.name === '' ? '' : `${match.node.name}/${index}`;
  const x = match.value('x');
  if (match.opset < SLICE_INPUTS)
    return newNode('Slice', { name, inputs: [x], attributes: { starts: ints([start]), ends: ints([end]), axes: ints([axis]) } });
  const constant = (what: string, value: number) => newInts(`${match.nameOf(x)}_part${index}_${what}`, [value]);
  return newNode('Slice', { name, inputs: [x, constant('start', start), constant('end', end), constant('axis', axis)] });
}
