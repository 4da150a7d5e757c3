/** QuantizeLinear and DequantizeLinear pairs that keep a value quantized with the same scale when a rule inserts a node. */
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, type PatchNode, type Ref } from '../../rewrite/patch.js';
import type { Match } from '../../rewrite/rule.js';

/** The per-tensor QuantizeLinear that is the only reader of `value`. */
export function findQuantizer(match: Match, value: ValueId): Node | undefined {
  const reader = match.soleReader(value);
  return reader?.domain === '' && reader.opType === 'QuantizeLinear' && reader.inputs[0] === value && isPerTensor(match, reader)
    ? reader
    : undefined;
}

/** The per-tensor DequantizeLinear that produces `value` from a computed quantized value. */
export function findDequantizer(match: Match, value: ValueId): Node | undefined {
  const producer = match.producerOf(value);
  const isQuantized =
    producer?.domain === '' && producer.opType === 'DequantizeLinear' && match.constantOf(producer.inputs[0]) === undefined;
  return isQuantized && isPerTensor(match, producer) ? producer : undefined;
}

/** The zero point is required because it determines the integer dtype. */
function isPerTensor(match: Match, { inputs }: Node): boolean {
  const [scale, zero] = [match.constantOf(inputs[1]), match.constantOf(inputs[2])];
  return (
    scale !== undefined &&
    zero !== undefined &&
    [scale, zero].every(({ dims }) => dims.length === 0 || (dims.length === 1 && dims[0] === 1))
  );
}

/**
 * Nodes that quantize and dequantize `x` with the scale of `like`; none if there is no `like`. If the following nodes only move elements, `like` quantizes
 * them to the same integers: (q − z)·s / s equals q − z with a relative error of at most 2⁻²², far from the next tie for up to 16 bits.
 */
export function requantize(x: Ref, like: Node | undefined, name: string): readonly PatchNode[] {
  if (like === undefined) return [];
  const [, scale, zero] = like.inputs;
  const quantize = newNode('QuantizeLinear', { name: name && `${name}/quantize`, inputs: [x, scale, zero] });
  const dequantize = newNode('DequantizeLinear', { name: name && `${name}/dequantize`, inputs: [outputOf(quantize), scale, zero] });
  return [quantize, dequantize];
}

/** Whether two QuantizeLinear or DequantizeLinear nodes have the same scale and zero point. */
export function isQuantizedAlike(match: Match, a: Node, b: Node): boolean {
  return [1, 2].every(index => {
    const [one, other] = [match.constantOf(a.inputs[index]), match.constantOf(b.inputs[index])];
    if (one === undefined || other === undefined || one.dtype === 'string' || other.dtype === 'string') return false;
    return one.dtype === other.dtype && Buffer.compare(one.bytes, other.bytes) === 0;
  });
}
