/** Constructors and getters for node attributes. */

import type { Attribute, Constant, Node } from './model.js';
import { OnnxError } from './onnx-error.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const int = (value: number | bigint): Attribute => ({ kind: 'int', value: BigInt(value) });
export const ints = (value: readonly (number | bigint)[]): Attribute => ({ kind: 'ints', value: value.map(BigInt) });
/** The value is rounded to float32, as ONNX stores it. */
export const float = (value: number): Attribute => ({ kind: 'float', value: Math.fround(value) });
export const floats = (value: readonly number[]): Attribute => ({ kind: 'floats', value: value.map(Math.fround) });
export const string = (value: string): Attribute => ({ kind: 'string', value: encoder.encode(value) });
export const tensor = (value: Constant, name = ''): Attribute => ({ kind: 'tensor', value, name });

/** This and the getters below throw OnnxError `attribute-type` if the attribute has another kind, and `attribute-range` for unsafe integers. */
export function getInt(node: Node, name: string, otherwise: number): number {
  const attribute = getKind(node, name, 'int');
  return attribute === undefined ? otherwise : toSafe(node, name, attribute.value);
}

export function findInts(node: Node, name: string): number[] | undefined {
  return getKind(node, name, 'ints')?.value.map(value => toSafe(node, name, value));
}

export function getFloat(node: Node, name: string, otherwise: number): number {
  return getKind(node, name, 'float')?.value ?? otherwise;
}

export function getString(node: Node, name: string, otherwise: string): string {
  const attribute = getKind(node, name, 'string');
  return attribute === undefined ? otherwise : decoder.decode(attribute.value);
}

function getKind<K extends Attribute['kind']>(node: Node, name: string, kind: K): Extract<Attribute, { kind: K }> | undefined {
  const attribute = node.attributes.get(name);
  if (attribute === undefined) return undefined;
  if (attribute.kind !== kind) {
    throw new OnnxError('attribute-type', `${node.opType} "${node.name}": attribute "${name}" must be ${kind}, found ${attribute.kind}`);
  }
  return attribute as Extract<Attribute, { kind: K }>;
}

function toSafe(node: Node, name: string, value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new OnnxError('attribute-range', `${node.opType} "${node.name}": attribute "${name}" is ${value}, outside the supported range`);
  return number;
}
