/** What where a target knows ConvTranspose without output_padding only? Fewer pads at the end give the same; what lies beyond them, zeros at the end of the input. */
import { findInts, getString, ints } from '../../../ir/attribute.js';
import type { Attribute } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';
import { newFloats, newInts } from '../../shared/numbers.js';

/** Pad takes its pads as an input from opset 11. */
const PADS_INPUT = 11;

/**
 * The rule `output-padding`: output size = stride·(size − 1) + output_padding + window − pads, so p less at the end is p more of output_padding. Where
 * output_padding is more than what is cut, the rest holds the bias alone: a row of zeros at the input's end gives `stride` such rows, of which the others are cut.
 */
export const removeOutputPadding: RewriteRule = {
  name: 'output-padding',
  proof: 'exact',
  proofText:
    'output_padding adds rows and columns at the end: those that the same window covers come from cutting so much less, those beyond from zeros after the input, cut to size; −0 may become +0.',
  pattern: op('ConvTranspose', { inputs: [any('x')] }),
  rewrite(match) {
    const { node } = match;
    const extra = findInts(node, 'output_padding') ?? [];
    if (extra.every(pad => pad === 0)) return decline('it has no output_padding', node);
    if (findInts(node, 'output_shape') !== undefined) return decline('it has output_shape', node);
    if (getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return decline('it pads by auto_pad', node);
    const rank = extra.length;
    const pads = findInts(node, 'pads') ?? Array.from({ length: 2 * rank }, () => 0);
    const strides = findInts(node, 'strides') ?? extra.map(() => 1);
    const beyond = extra.map((pad, axis) => Math.max(0, pad - (pads[rank + axis] ?? 0)));
    const rows = beyond.map((count, axis) => Math.ceil(count / (strides[axis] ?? 1)));
    if (rows.some(count => count > 0) && match.type(match.value('x')).dtype !== 'float32')
      return decline('it goes beyond the pads, and its input is not float32', node);
    const ends = extra.map((pad, axis) => (pads[rank + axis] ?? 0) - pad + (rows[axis] ?? 0) * (strides[axis] ?? 1));
    const attributes = new Map([...node.attributes, ['pads', ints([...pads.slice(0, rank), ...ends])] as const]);
    attributes.delete('output_padding');
    const longer = rows.some(count => count > 0) ? [padEnd(match, rows)] : [];
    const x: Ref = longer[0] === undefined ? match.value('x') : outputOf(longer[0]);
    const conv = newNode('ConvTranspose', { name: node.name, inputs: [x, ...node.inputs.slice(1)], attributes });
    return patch({ add: [...longer, conv], replace: [[match.output(), outputOf(conv)]] });
  },
};

/** So many zeros after the last place of each spatial axis. */
function padEnd(match: Match, rows: readonly number[]): PatchNode {
  const name = match.node.name && `${match.node.name}/pad`;
  const before = [0, 0, ...rows.map(() => 0)];
  const pads = [...before, 0, 0, ...rows];
  if (match.opset < PADS_INPUT) {
    const attributes: Readonly<Record<string, Attribute>> = { pads: ints(pads) };
    return newNode('Pad', { name, inputs: [match.value('x')], attributes });
  }
  const base = match.nameOf(match.output());
  return newNode('Pad', { name, inputs: [match.value('x'), newInts(`${base}_pads`, pads), newFloats(`${base}_zero`, [], [0])] });
}
