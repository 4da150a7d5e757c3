/** Rewrite rule `explicit-pads`: the `auto_pad` of a Conv or pool becomes `pads`. */
import { findInts, getInt, getString, ints } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

/** SAME: the output has ⌈size / stride⌉ elements; of an odd number of pads, one more is at the end (UPPER) or the start (LOWER). VALID: none. */
export const makePadsExplicit: RuleCode = {
  proofText: 'For a known input size, auto_pad determines the pads, and the operator pads the same with either.',
  pattern: op(['Conv', 'MaxPool', 'AveragePool'], { inputs: [any('x')] }),
  rewrite(match) {
    const { node } = match;
    const mode = getString(node, 'auto_pad', 'NOTSET');
    if (mode === 'NOTSET') return decline('it has no auto_pad', node);
    if (getInt(node, 'ceil_mode', 0) !== 0) return decline('it has auto_pad and ceil_mode', node);
    const [, indices] = node.outputs;
    if (indices !== undefined && match.useCount(indices) > 0) return decline('its second output, the indices, is read', node);
    const pads = mode === 'VALID' ? findKernel(match)?.flatMap(() => [0, 0]) : findSamePads(match, mode);
    if (pads === undefined) return decline('height, width or the kernel is not known', node);
    const attributes = new Map([...node.attributes, ['pads', ints(pads)] as const]);
    attributes.delete('auto_pad');
    const padded = newNode(node.opType, { name: node.name, inputs: node.inputs, attributes });
    return patch({ add: [padded], replace: [[match.output(), outputOf(padded)]] });
  },
};

/** All starts, then all ends. */
function findSamePads(match: Match, mode: string): readonly number[] | undefined {
  const { node } = match;
  const kernel = findKernel(match);
  const sizes = match.type(match.value('x')).dims?.slice(2);
  if (kernel === undefined || sizes?.length !== kernel.length) return undefined;
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [axis, size] of sizes.entries()) {
    if (typeof size !== 'number') return undefined;
    const total = totalPads(node, axis, { size, kernel: kernel[axis] ?? 1 });
    const less = Math.floor(total / 2);
    starts.push(mode === 'SAME_UPPER' ? less : total - less);
    ends.push(mode === 'SAME_UPPER' ? total - less : less);
  }
  return [...starts, ...ends];
}

function totalPads(node: Node, axis: number, { size, kernel }: { readonly size: number; readonly kernel: number }): number {
  const stride = findInts(node, 'strides')?.[axis] ?? 1;
  const window = (kernel - 1) * (findInts(node, 'dilations')?.[axis] ?? 1) + 1;
  return Math.max(0, (Math.ceil(size / stride) - 1) * stride + window - size);
}

function findKernel(match: Match): readonly number[] | undefined {
  const stated = findInts(match.node, 'kernel_shape');
  if (stated !== undefined) return stated;
  const weight = match.node.inputs[1];
  const dims = weight === undefined ? undefined : match.type(weight).dims?.slice(2);
  return dims?.flatMap(dim => (typeof dim === 'number' ? [dim] : [])).length === dims?.length ? dims?.map(Number) : undefined;
}
