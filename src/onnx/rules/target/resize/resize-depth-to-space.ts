/** Rewrite rule `resize-depth-to-space`: nearest-neighbor Resize by a whole factor becomes a Concat of copies and DepthToSpace. */
import { int, string } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { findRepetitions } from './whole-factors.js';

/** From this opset on, DepthToSpace has the attribute mode; earlier versions always use DCR. */
const MODE_OPSET = 11;

/** For one factor b of height and width: y[c, b·h + i, b·w + j] is copy (i·b + j) of channel c. */
export const resizeToDepthToSpace: RuleCode = {
  proofText: 'Each element is copied b² times along the channels, and DepthToSpace (DCR) moves the copies into one block: no bit changes.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const found = findRepetitions(match);
    if (typeof found === 'string') return decline(found, match.node);
    const { height, width } = found;
    if (height !== width)
      return decline(`its factors are ${height} for height and ${width} for width; DepthToSpace needs equal factors`, match.node);
    if (height === 1) return decline('its factors are 1', match.node);
    const { name } = match.node;
    const copies = newNode('Concat', {
      name: name && `${name}/copies`,
      inputs: Array.from({ length: height * height }, () => match.value('x')),
      attributes: { axis: int(1) },
    });
    const spread = newNode('DepthToSpace', {
      name,
      inputs: [outputOf(copies)],
      attributes: { blocksize: int(height), ...(match.opset < MODE_OPSET ? {} : { mode: string('DCR') }) },
    });
    return patch({ add: [copies, spread], replace: [[match.output(), outputOf(spread)]] });
  },
};
