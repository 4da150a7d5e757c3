/** The elements of an attribute as numbers and texts. */
import type { Attribute } from '../../onnx/ir/model.js';

const decoder = new TextDecoder();

/** A JSON number and its float32 form differ in the last bits. */
const CLOSE = 1e-6;

export function isSameElement(known: number | string, one: number | string): boolean {
  return typeof known === 'number' && typeof one === 'number' ? Math.abs(known - one) <= CLOSE : known === one;
}

/** One element for a scalar attribute; "a graph", for example, for an attribute of another kind. */
export function elementsOf(attribute: Attribute): readonly (number | string)[] {
  switch (attribute.kind) {
    case 'int':
      return [Number(attribute.value)];
    case 'float':
      return [attribute.value];
    case 'string':
      return [decoder.decode(attribute.value)];
    case 'ints':
      return attribute.value.map(Number);
    case 'floats':
      return attribute.value;
    default:
      return [`a ${attribute.kind}`];
  }
}
