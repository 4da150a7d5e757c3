/** Rewrite rule `unshare-constants`: each layer gets its own copy of a constant that several layers share. */
import type { ValueId } from '../../../ir/model.js';
import { newConstant, newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findLayerConstant, type MovedConstant, moveConstant } from '../../shared/layer-constant.js';

/** Copies the shared constants of a layer. The last layer that reads one keeps the original. */
export const unshareConstants: RuleCode = {
  proofText: 'A copy of a constant has the same bits.',
  pattern: op(['Conv', 'ConvTranspose', 'Gemm', 'MatMul', 'PRelu', 'Add', 'Mul', 'BatchNormalization'], { inputs: [any('x')] }),
  rewrite(match) {
    const { node } = match;
    const copies = new Map<ValueId, MovedConstant>();
    for (const input of node.inputs) {
      const copy = input === undefined ? undefined : copyShared(match, input);
      if (input !== undefined && copy !== undefined) copies.set(input, copy);
    }
    if (copies.size === 0) return decline('it does not share a constant', node);
    const inputs = node.inputs.map(input => (input === undefined ? undefined : (copies.get(input)?.ref ?? input)));
    const layer = newNode(node.opType, { name: node.name, inputs, attributes: node.attributes });
    const made = [...copies.values()];
    return patch({
      add: [...made.flatMap(({ add }) => add), layer],
      replace: [[match.output(), outputOf(layer)]],
      also: made.flatMap(({ unread }) => unread),
    });
  },
};

/** The copy of a constant with several readers; for a quantized one, of its integers and DequantizeLinear. Scales and zero points may stay shared. */
function copyShared(match: Match, input: ValueId): MovedConstant | undefined {
  const constant = match.constantOf(input);
  if (constant !== undefined) {
    return match.useCount(input) > 1 ? { ref: newConstant(match.nameOf(input), constant), add: [], unread: [] } : undefined;
  }
  const layerConstant = findLayerConstant(match, input);
  const integers = layerConstant?.quantized?.node.inputs[0];
  if (layerConstant?.quantized === undefined || integers === undefined) return undefined;
  if (match.useCount(input) === 1 && match.useCount(integers) === 1) return undefined;
  return moveConstant(match, layerConstant, { stored: layerConstant.stored, suffix: 'copy', axis: layerConstant.quantized.axis ?? 0 });
}
