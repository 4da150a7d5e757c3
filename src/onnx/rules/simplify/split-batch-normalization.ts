/** Simplify rule `split-batch-normalization`: a BatchNormalization of concatenated linear nodes is split per part, so that each can be folded. */
import { getInt } from '../../ir/attribute.js';
import type { Constant, Node, ValueId } from '../../ir/model.js';
import { isInferenceBatchNormalization } from '../../ir/operator-traits.js';
import { newNode, outputOf, type PatchNode, patch } from '../../rewrite/patch.js';
import { constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findFloat32, newFloats } from '../shared/constants.js';
import { LINEAR } from '../shared/per-channel.js';

const STATISTICS = ['gamma', 'beta', 'mean', 'variance'] as const;

/** Applies only if each part can be folded; `fold-batch-normalization` then removes the additional nodes. */
export const splitBatchNormalization: RewriteRule = {
  name: 'split-batch-normalization',
  proof: 'exact',
  proofText: 'Each channel is normalized by its own constants, so normalization and concatenation commute.',
  pattern: op('BatchNormalization', { inputs: [op('Concat', { name: 'join' }), ...STATISTICS.map(name => constant(name))] }),
  rewrite(match) {
    if (!isInferenceBatchNormalization(match.node)) return decline('it is in training mode', match.node);
    const counts = channelsOfParts(match);
    if (typeof counts === 'string') return decline(counts, match.node);
    const join = match.inner('join');
    const parts: PatchNode[] = [];
    let start = 0;
    for (const [index, count] of counts.entries()) {
      parts.push(makePart(match, join, index, [start, start + count]));
      start += count;
    }
    const joined = newNode('Concat', { name: join.name, inputs: parts.map(part => outputOf(part)), attributes: join.attributes });
    return patch({ add: [...parts, joined], replace: [[match.output(), outputOf(joined)]] });
  },
};

/** Number of channels of each part, or the reason why a part cannot be folded. */
function channelsOfParts(match: Match): readonly number[] | string {
  const join = match.inner('join');
  const rank = match.type(match.output()).dims?.length;
  if (rank === undefined) return 'the rank of its output is not known';
  if (getInt(join, 'axis', 1) !== 1 && getInt(join, 'axis', 1) !== 1 - rank) return 'its Concat is not along the channels';
  if (STATISTICS.some(name => findFloat32(match.constant(name)) === undefined)) return 'its parameters are not float32';
  const counts: number[] = [];
  for (const input of join.inputs) {
    const reason = input === undefined ? 'an input of its Concat is absent' : foldingObstacle(match, input);
    if (reason !== undefined) return reason;
    const count = input === undefined ? undefined : match.type(input).dims?.[1];
    if (typeof count !== 'number') return 'the channels of an input of its Concat are not known';
    counts.push(count);
  }
  const [gamma] = match.constant('gamma').dims;
  return counts.reduce((sum, count) => sum + count, 0) === gamma ? counts : 'its parameters do not match the channels of its Concat';
}

function foldingObstacle(match: Match, input: ValueId): string | undefined {
  const linear = LINEAR.map(opType => match.producerOf(input, opType)).find(node => node !== undefined);
  if (linear === undefined) return `"${match.nameOf(input)}" does not come from ${LINEAR.join(', ')}`;
  if (match.soleReader(input) !== match.inner('join')) return `"${match.nameOf(input)}" has other readers`;
  const isFloat = (id: ValueId | undefined): boolean => id === undefined || isFloat32(match.constantOf(id));
  return isFloat(linear.inputs[1]) && isFloat(linear.inputs[2])
    ? undefined
    : `the weight or bias before "${match.nameOf(input)}" is not constant`;
}

const isFloat32 = (constantValue: Constant | undefined): boolean => constantValue?.dtype === 'float32';

function makePart(match: Match, join: Node, index: number, [start, end]: readonly [number, number]): PatchNode {
  const base = match.nameOf(match.output());
  const parameters = STATISTICS.map(name => {
    const values = findFloat32(match.constant(name))?.data.subarray(start, end) ?? [];
    return newFloats(`${base}_part${index}_${name}`, [end - start], values);
  });
  return newNode('BatchNormalization', {
    name: match.node.name && `${match.node.name}/part${index}`,
    inputs: [join.inputs[index], ...parameters],
    attributes: match.node.attributes,
  });
}
