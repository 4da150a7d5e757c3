/** What where several layers share one weight, and a target gives each its own scale or layout? Each layer gets a copy. */
import type { ValueId } from '../../ir/model.js';
import { newConstant, newNode, outputOf, patch, type Ref } from '../patch.js';
import { any, op } from '../pattern.js';
import { decline, type RewriteRule } from '../rule.js';

/** The rule `unshare-constants`, for the constants that a layer computes with. The last reader keeps the original. */
export const unshareConstants: RewriteRule = {
  name: 'unshare-constants',
  proof: 'exact',
  proofText: 'A copy of a constant has the same bits.',
  pattern: op(['Conv', 'ConvTranspose', 'Gemm', 'MatMul', 'PRelu', 'Add', 'Mul', 'BatchNormalization'], { inputs: [any('x')] }),
  rewrite(match) {
    const isShared = (input: ValueId | undefined): input is ValueId =>
      input !== undefined && match.constantOf(input) !== undefined && match.useCount(input) > 1;
    const { node } = match;
    if (!node.inputs.some(isShared)) return decline('it shares no constant', node);
    const copies = new Map<ValueId, Ref>();
    for (const input of node.inputs) {
      const shared = isShared(input) ? match.constantOf(input) : undefined;
      if (input !== undefined && shared !== undefined) copies.set(input, newConstant(match.nameOf(input), shared));
    }
    const inputs = node.inputs.map(input => (input === undefined ? undefined : (copies.get(input) ?? input)));
    const copy = newNode(node.opType, { name: node.name, inputs, attributes: node.attributes });
    return patch({ add: [copy], replace: [[match.output(), outputOf(copy)]] });
  },
};
