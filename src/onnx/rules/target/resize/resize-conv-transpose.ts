/** What can stand for a Resize to a multiple by nearest neighbours, where a target has none? A depthwise ConvTranspose of ones. */
import { int, ints } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RewriteRule } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/numbers.js';
import { findMultiples, whyNotRepeated } from './whole-multiples.js';

/** The rule `resize-conv-transpose`: kernel and stride are the multiple, so that nothing overlaps and each element is written so many times. */
export const resizeToConvTranspose: RewriteRule = {
  name: 'resize-conv-transpose',
  proof: 'exact',
  proofText: 'With kernel = stride nothing overlaps, and each output element is 1 · x; −0 becomes +0, all else keeps its bits.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const reason = whyNotRepeated(match);
    if (reason !== undefined) return decline(reason, match.node);
    const found = findMultiples(match);
    if (typeof found === 'string') return decline(found, match.node);
    const { channels, height, width } = found;
    const ones = new Float32Array(channels * height * width).fill(1);
    const node = newNode('ConvTranspose', {
      name: match.node.name,
      inputs: [match.value('x'), newFloats(`${match.nameOf(match.output())}_ones`, [channels, 1, height, width], ones)],
      attributes: { group: int(channels), kernel_shape: ints([height, width]), strides: ints([height, width]), pads: ints([0, 0, 0, 0]) },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};
