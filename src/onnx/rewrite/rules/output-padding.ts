/** What where a target knows ConvTranspose without output_padding only? Fewer pads at the end give the same. */
import { findInts, getString, ints } from '../../ir/attribute.js';
import { newNode, outputOf, patch } from '../patch.js';
import { any, op } from '../pattern.js';
import { decline, type RewriteRule } from '../rule.js';

/** The rule `output-padding`: output size = stride·(size − 1) + output_padding + window − pads, so p less at the end is p more of output_padding. */
export const removeOutputPadding: RewriteRule = {
  name: 'output-padding',
  proof: 'exact',
  proofText:
    'output_padding adds rows and columns at the end that the same window covers: cutting so much less at the end keeps the same elements.',
  pattern: op('ConvTranspose', { inputs: [any('x')] }),
  rewrite(match) {
    const { node } = match;
    const extra = findInts(node, 'output_padding') ?? [];
    if (extra.every(pad => pad === 0)) return decline('it has no output_padding', node);
    if (findInts(node, 'output_shape') !== undefined) return decline('it has output_shape', node);
    if (getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return decline('it pads by auto_pad', node);
    const rank = extra.length;
    const pads = findInts(node, 'pads') ?? Array.from({ length: 2 * rank }, () => 0);
    const short = extra.findIndex((pad, axis) => pad > (pads[rank + axis] ?? 0));
    if (short >= 0)
      return decline(
        `output_padding ${extra[short]} is more than the ${pads[rank + short] ?? 0} cut at the end of axis ${short + 2}`,
        node,
      );
    const kept = pads.map((pad, index) => (index < rank ? pad : pad - (extra[index - rank] ?? 0)));
    const attributes = new Map([...node.attributes, ['pads', ints(kept)] as const]);
    attributes.delete('output_padding');
    const conv = newNode('ConvTranspose', { name: node.name, inputs: node.inputs, attributes });
    return patch({ add: [conv], replace: [[match.output(), outputOf(conv)]] });
  },
};
