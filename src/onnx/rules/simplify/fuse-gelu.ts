/** Simplify rule `fuse-gelu`: the nodes of x · (1 + erf(x / √2)) / 2 become Gelu. */
import type { ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findGelu } from '../shared/find-gelu.js';

/** The opset that introduced Gelu. */
const GELU_OPSET = 20;

export const fuseGelu: RewriteRule = {
  name: 'fuse-gelu',
  proof: 'rounding',
  proofText: 'The nodes compute x · (1 + erf(x/√2))/2 as Gelu does; a single kernel rounds less often.',
  pattern: op('Mul'),
  rewrite(match) {
    const found = findGelu(match);
    if (found === undefined) return decline('it is not a product of x, 1 + erf(x/√2) and 1/2', match.node);
    if (match.opset < GELU_OPSET) return decline(`Gelu needs opset ${GELU_OPSET}; the model has ${match.opset}`, match.node);
    if (!sameRank(match, found.x)) return decline('a constant may raise the rank of the result', match.node);
    const node = newNode('Gelu', { name: match.node.name, inputs: [found.x] });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** Whether the result has the rank of x: constants of one element may still have a higher rank. */
function sameRank(match: Match, x: ValueId): boolean {
  const rank = match.type(x).dims?.length;
  return rank !== undefined && rank === match.type(match.output()).dims?.length;
}
