/** The weight or bias of a layer, stored as it is or as integers before a DequantizeLinear. Rules rearrange its elements without changing them. */
import { byteLength } from '../../../tensor/dtype.js';
import type { RawTensor } from '../../../tensor/tensor.js';
import { getInt, int } from '../../ir/attribute.js';
import type { Constant, Node, ValueId } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, type Ref } from '../../rewrite/patch.js';
import type { Match } from '../../rewrite/rule.js';

export interface LayerConstant {
  readonly value: ValueId;
  /** The stored elements. */
  readonly stored: RawTensor;
  /** The dequantization of the stored elements, if they are quantized. */
  readonly quantized: Quantized | undefined;
}

interface Quantized {
  readonly node: Node;
  readonly scale: RawTensor;
  readonly zero: RawTensor | undefined;
  /** Undefined: one scale per tensor. */
  readonly axis: number | undefined;
}

/** The constant, quantized or not, that `value` equals; undefined if it is computed, a string, of a packed 4-bit dtype, or quantized in blocks. */
export function findLayerConstant(match: Match, value: ValueId | undefined): LayerConstant | undefined {
  if (value === undefined) return undefined;
  const constant = match.constantOf(value);
  if (constant !== undefined) return isRaw(constant) ? { value, stored: constant, quantized: undefined } : undefined;
  const node = match.producerOf(value, 'DequantizeLinear');
  if (node === undefined || getInt(node, 'block_size', 0) !== 0) return undefined;
  const [stored, scale, zero] = node.inputs.map(input => match.constantOf(input));
  if (!isRaw(stored) || !isRaw(scale) || (zero !== undefined && !isRaw(zero)) || (node.inputs[2] !== undefined && zero === undefined))
    return undefined;
  const axis = scale.dims.length === 0 || scale.dims[0] === 1 ? undefined : getInt(node, 'axis', 1);
  return { value, stored, quantized: { node, scale, zero, axis: axis === undefined || axis >= 0 ? axis : axis + stored.dims.length } };
}

/** Whether each element has whole bytes, unlike packed 4-bit integers. */
const isRaw = (constant: Constant | undefined): constant is RawTensor =>
  constant !== undefined && constant.dtype !== 'string' && byteLength(constant.dtype, 2) === 2 * byteLength(constant.dtype, 1);

/** Whether it is not quantized, has one scale per tensor, or has scales along `axis`. */
export const isScaledAlong = ({ quantized }: LayerConstant, axis: number): boolean =>
  quantized?.axis === undefined || quantized.axis === axis;

/** A constant that a patch derives from another: the new value, the nodes that compute it, and the nodes that become unread. */
export interface MovedConstant {
  readonly ref: Ref;
  readonly add: readonly PatchNode[];
  readonly unread: readonly Node[];
}

/**
 * Replaces the elements of `from` by `stored`, with scales along `axis`. `channels` gives the old channel of each new one; default: unchanged order.
 * `suffix` is appended to the names of new constants.
 */
export function moveConstant(
  match: Match,
  from: LayerConstant,
  to: { readonly stored: RawTensor; readonly suffix: string; readonly axis: number; readonly channels?: readonly number[] },
): MovedConstant {
  const { quantized } = from;
  const rename = (id: ValueId | undefined, constant: RawTensor): Ref =>
    newConstant(`${id === undefined ? '' : match.nameOf(id)}_${to.suffix}`, constant);
  if (quantized === undefined) return { ref: rename(from.value, to.stored), add: [], unread: [] };
  const { node, scale, zero, axis } = quantized;
  const [storedId, scaleId, zeroId] = node.inputs;
  const { channels } = to;
  const move = (id: ValueId | undefined, constant: RawTensor | undefined): Ref | undefined =>
    axis === undefined || channels === undefined || constant === undefined ? id : rename(id, takeElements(constant, channels));
  const dequantizer = newNode('DequantizeLinear', {
    name: node.name && `${node.name}/${to.suffix}`,
    inputs: [rename(storedId, to.stored), move(scaleId, scale), move(zeroId, zero)],
    attributes: axis === undefined ? node.attributes : new Map([...node.attributes, ['axis', int(to.axis)] as const]),
  });
  return { ref: outputOf(dequantizer), add: [dequantizer], unread: [node] };
}

/** The elements of a vector at `indices`, in that order. */
export function takeElements(constant: RawTensor, indices: readonly number[]): RawTensor {
  const size = byteLength(constant.dtype, 1);
  const bytes = new Uint8Array(indices.length * size);
  for (const [to, from] of indices.entries()) bytes.set(constant.bytes.subarray(from * size, (from + 1) * size), to * size);
  return { ...constant, dims: [indices.length], bytes };
}
