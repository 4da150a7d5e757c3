/** The elements of an attribute as numbers and texts. */
import type { Attribute } from '../../onnx/ir/model.js';

const decoder = new TextDecoder();

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
