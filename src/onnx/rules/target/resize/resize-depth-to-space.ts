/** What can stand for a Resize by nearest neighbours where a target has neither it nor ConvTranspose? The channels so many times over, and DepthToSpace. */
import { int, string } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RewriteRule } from '../../../rewrite/rule.js';
import { findMultiples, whyNotRepeated } from './whole-multiples.js';

/** DepthToSpace has its mode from opset 11; before, what is now DCR is all there is. */
const MODE = 11;

/** The rule `resize-depth-to-space`, for one multiple b of height and width: y[c, b·h + i, b·w + j] = copy (i·b + j) of channel c. */
export const resizeToDepthToSpace: RewriteRule = {
  name: 'resize-depth-to-space',
  proof: 'exact',
  proofText: 'Each element is copied b² times along the channels, which DepthToSpace (DCR) spreads over a block: no bit changes.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const reason = whyNotRepeated(match);
    if (reason !== undefined) return decline(reason, match.node);
    const found = findMultiples(match);
    if (typeof found === 'string') return decline(found, match.node);
    const { height, width } = found;
    if (height !== width)
      return decline(`it grows ${height} times in height and ${width} in width; DepthToSpace needs a square`, match.node);
    if (height === 1) return decline('it changes no size', match.node);
    const { name } = match.node;
    const copies = newNode('Concat', {
      name: name && `${name}/copies`,
      inputs: Array.from({ length: height * height }, () => match.value('x')),
      attributes: { axis: int(1) },
    });
    const spread = newNode('DepthToSpace', {
      name,
      inputs: [outputOf(copies)],
      attributes: { blocksize: int(height), ...(match.opset < MODE ? {} : { mode: string('DCR') }) },
    });
    return patch({ add: [copies, spread], replace: [[match.output(), outputOf(spread)]] });
  },
};
