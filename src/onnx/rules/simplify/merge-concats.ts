/** Simplify rule `merge-concats`: a Concat that only feeds another Concat along the same axis is merged into it. */
import { getInt } from '../../ir/attribute.js';
import type { ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';

export const mergeConcats: RewriteRule = {
  name: 'merge-concats',
  proof: 'exact',
  proofText: 'Nested concatenation along one axis is one concatenation.',
  pattern: op('Concat'),
  rewrite(match) {
    const rank = match.type(match.output()).dims?.length;
    if (rank === undefined) return decline('the rank of its output is not known', match.node);
    const { node } = match;
    const inner = node.inputs.map(input => innerOf(match, input, rank));
    const also = inner.filter(found => found !== undefined);
    if (also.length === 0) return decline('none of its inputs is a Concat along its axis that it alone reads', node);
    const inputs = node.inputs.flatMap((input, index) => inner[index]?.inputs ?? [input]);
    const join = newNode('Concat', { name: node.name, inputs, attributes: node.attributes });
    return patch({ add: [join], replace: [[match.output(), outputOf(join)]], also });
  },
};

function innerOf(match: Match, input: ValueId | undefined, rank: number): ReturnType<Match['producerOf']> {
  if (input === undefined || match.soleReader(input) !== match.node) return undefined;
  const producer = match.producerOf(input, 'Concat');
  const axisOf = (axis: number): number => (axis < 0 ? axis + rank : axis);
  if (producer === undefined) return undefined;
  return axisOf(getInt(producer, 'axis', 1)) === axisOf(getInt(match.node, 'axis', 1)) ? producer : undefined;
}
