/** How does a quantized value stay quantized where a rule puts one more node into its way? It is quantized before that node as it is after it. */
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, type PatchNode, type Ref } from '../../rewrite/patch.js';
import type { Match } from '../../rewrite/rule.js';

/** The QuantizeLinear that alone reads `value`, with one scale for all. */
export function findQuantizer(match: Match, value: ValueId): Node | undefined {
  const reader = match.soleReader(value);
  return reader?.domain === '' && reader.opType === 'QuantizeLinear' && reader.inputs[0] === value && isPerTensor(match, reader)
    ? reader
    : undefined;
}

/** The DequantizeLinear that makes `value` of a quantized one, with one scale for all. */
export function findDequantizer(match: Match, value: ValueId): Node | undefined {
  const producer = match.producerOf(value);
  const isQuantized =
    producer?.domain === '' && producer.opType === 'DequantizeLinear' && match.constantOf(producer.inputs[0]) === undefined;
  return isQuantized && isPerTensor(match, producer) ? producer : undefined;
}

/** Its zero point says of which type it is. */
function isPerTensor(match: Match, { inputs }: Node): boolean {
  const [scale, zero] = [match.constantOf(inputs[1]), match.constantOf(inputs[2])];
  return (
    scale !== undefined &&
    zero !== undefined &&
    [scale, zero].every(({ dims }) => dims.length === 0 || (dims.length === 1 && dims[0] === 1))
  );
}

/**
 * `x` quantized and dequantized with the scale of `like`; nothing where there is none. What then moves elements alone gives values that `like` quantizes to
 * the same integers: (q − z)·s over s is q − z to within 2⁻²² of itself, far from the next tie for up to 16 bits.
 */
export function requantize(x: Ref, like: Node | undefined, name: string): readonly PatchNode[] {
  if (like === undefined) return [];
  const [, scale, zero] = like.inputs;
  const quantize = newNode('QuantizeLinear', { name: name && `${name}/quantize`, inputs: [x, scale, zero] });
  const dequantize = newNode('DequantizeLinear', { name: name && `${name}/dequantize`, inputs: [outputOf(quantize), scale, zero] });
  return [quantize, dequantize];
}

/** Have two (de)quantizers the same scale and zero point? */
export function isQuantizedAlike(match: Match, a: Node, b: Node): boolean {
  return [1, 2].every(index => {
    const [one, other] = [match.constantOf(a.inputs[index]), match.constantOf(b.inputs[index])];
    if (one === undefined || other === undefined || one.dtype === 'string' || other.dtype === 'string') return false;
    return one.dtype === other.dtype && Buffer.compare(one.bytes, other.bytes) === 0;
  });
}
