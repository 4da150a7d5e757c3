/** Where do a layer's weight and bias stand? In the graph as they are, or as a quantizer's integers behind a DequantizeLinear: a rule moves either, and changes no element. */
import { byteLength } from '../../../tensor/dtype.js';
import type { RawTensor } from '../../../tensor/tensor.js';
import { getInt, int } from '../../ir/attribute.js';
import type { Constant, Node, ValueId } from '../../ir/model.js';
import { newConstant, newNode, outputOf, type PatchNode, type Ref } from '../../rewrite/patch.js';
import type { Match } from '../../rewrite/rule.js';

export interface LayerConstant {
  readonly value: ValueId;
  /** The elements as they are stored. */
  readonly stored: RawTensor;
  /** What makes real numbers of them, where they are quantized. */
  readonly quantized: Quantized | undefined;
}

interface Quantized {
  readonly node: Node;
  readonly scale: RawTensor;
  readonly zero: RawTensor | undefined;
  /** Undefined: one scale for all. */
  readonly axis: number | undefined;
}

/** The constant that `value` is, quantized or not; undefined where it is computed, text, of 4-bit integers, or quantized in blocks. */
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

/** Whole bytes per element: two 4-bit integers share one. */
const isRaw = (constant: Constant | undefined): constant is RawTensor =>
  constant !== undefined && constant.dtype !== 'string' && byteLength(constant.dtype, 2) === 2 * byteLength(constant.dtype, 1);

/** Has it one scale for all, or one per element along `axis`? */
export const isScaledAlong = ({ quantized }: LayerConstant, axis: number): boolean =>
  quantized?.axis === undefined || quantized.axis === axis;

/** A constant that a patch makes of another: its value, what computes that, and what is not needed any more. */
export interface MovedConstant {
  readonly ref: Ref;
  readonly add: readonly PatchNode[];
  readonly gone: readonly Node[];
}

/**
 * `stored` in the place of what `from` holds, scaled along `axis`: `channels` says of each channel there which one it was; without it they stay in order.
 * @param suffix of the new constants' names.
 */
export function moveConstant(
  match: Match,
  from: LayerConstant,
  to: { readonly stored: RawTensor; readonly suffix: string; readonly axis: number; readonly channels?: readonly number[] },
): MovedConstant {
  const { quantized } = from;
  const rename = (id: ValueId | undefined, constant: RawTensor): Ref =>
    newConstant(`${id === undefined ? '' : match.nameOf(id)}_${to.suffix}`, constant);
  if (quantized === undefined) return { ref: rename(from.value, to.stored), add: [], gone: [] };
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
  return { ref: outputOf(dequantizer), add: [dequantizer], gone: [node] };
}

/** The elements of a vector at `places`, in their order. */
export function takeElements(constant: RawTensor, places: readonly number[]): RawTensor {
  const size = byteLength(constant.dtype, 1);
  const bytes = new Uint8Array(places.length * size);
  for (const [index, place] of places.entries()) bytes.set(constant.bytes.subarray(place * size, (place + 1) * size), index * size);
  return { ...constant, dims: [places.length], bytes };
}
