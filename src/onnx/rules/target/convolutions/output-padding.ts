/** Rewrite rule `output-padding`: ConvTranspose with output_padding as one with smaller pads at the end, and zeros after the input where needed. */
import { findInts, getString, ints } from '../../../ir/attribute.js';
import type { Attribute } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats, newInts } from '../../shared/constants.js';

/** From this opset on, Pad takes its pads as an input. */
const PADS_INPUT = 11;

/**
 * Output size = stride·(size − 1) + output_padding + window − pads, so reducing the end pads by p has the effect of output_padding p. Output rows beyond the
 * pads hold only the bias: a row of zeros after the input produces `stride` such rows, of which the superfluous ones are cut by end pads.
 */
export const removeOutputPadding: RuleCode = {
  proofText:
    'output_padding adds rows and columns at the end: those covered by the window come from smaller end pads, those beyond it from zeros after the input, cut to size; −0 may become +0.',
  pattern: op('ConvTranspose', { inputs: [any('x')] }),
  rewrite(match) {
    const { node } = match;
    const extra = findInts(node, 'output_padding') ?? [];
    if (extra.every(pad => pad === 0)) return decline('its output_padding is zero or absent', node);
    if (findInts(node, 'output_shape') !== undefined) return decline('it has output_shape', node);
    if (getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return decline('it uses auto_pad', node);
    const rank = extra.length;
    const pads = findInts(node, 'pads') ?? Array.from({ length: 2 * rank }, () => 0);
    const strides = findInts(node, 'strides') ?? extra.map(() => 1);
    const beyond = extra.map((pad, axis) => Math.max(0, pad - (pads[rank + axis] ?? 0)));
    const rows = beyond.map((count, axis) => Math.ceil(count / (strides[axis] ?? 1)));
    if (rows.some(count => count > 0) && match.type(match.value('x')).dtype !== 'float32')
      return decline('its output_padding exceeds the pads, and its input is not float32', node);
    const ends = extra.map((pad, axis) => (pads[rank + axis] ?? 0) - pad + (rows[axis] ?? 0) * (strides[axis] ?? 1));
    const attributes = new Map([...node.attributes, ['pads', ints([...pads.slice(0, rank), ...ends])] as const]);
    attributes.delete('output_padding');
    const longer = rows.some(count => count > 0) ? [padEnd(match, rows)] : [];
    const x: Ref = longer[0] === undefined ? match.value('x') : outputOf(longer[0]);
    const conv = newNode('ConvTranspose', { name: node.name, inputs: [x, ...node.inputs.slice(1)], attributes });
    return patch({ add: [...longer, conv], replace: [[match.output(), outputOf(conv)]] });
  },
};

/** A Pad that appends `rows` zeros to each spatial axis of the input. */
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
