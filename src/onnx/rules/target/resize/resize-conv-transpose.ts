/** Rewrite rule `resize-conv-transpose`: nearest-neighbor Resize by whole factors becomes a depthwise ConvTranspose of ones. */
import { int, ints } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats } from '../../shared/constants.js';
import { findRepetitions } from './whole-factors.js';

/** Kernel and stride are the factor, so nothing overlaps and each element is repeated factor times per axis. */
export const resizeToConvTranspose: RuleCode = {
  proofText: 'With kernel = stride nothing overlaps, and each output element is 1 · x; −0 becomes +0, all other values keep their bits.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const found = findRepetitions(match);
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
