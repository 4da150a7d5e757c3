/** Which nodes are a Gelu? x · (1 + erf(x / √2)) / 2, as exporters before opset 20 wrote it. */
import type { ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findErf } from '../shared/find-gelu.js';

/** Gelu is an operator from opset 20. */
const GELU = 20;

export const fuseGelu: RewriteRule = {
  name: 'fuse-gelu',
  proof: 'rounding',
  proofText: 'The nodes compute x · (1 + erf(x/√2))/2 as Gelu does; one kernel rounds less often.',
  pattern: op('Mul'),
  rewrite(match) {
    const found = findErf(match);
    if (found === undefined) return decline('it is no product of x, 1 + erf(x/√2) and 1/2', match.node);
    if (match.opset < GELU) return decline(`Gelu is there from opset ${GELU}; the model has ${match.opset}`, match.node);
    if (!sameRank(match, found.x)) return decline('a constant may raise its rank', match.node);
    const node = newNode('Gelu', { name: match.node.name, inputs: [found.x] });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** Constants of one element may still have more axes than x. */
function sameRank(match: Match, x: ValueId): boolean {
  const rank = match.type(x).dims?.length;
  return rank !== undefined && rank === match.type(match.output()).dims?.length;
}
