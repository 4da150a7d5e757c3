/** One-line descriptions of attribute values for messages. */
import type { Attribute } from '../ir/model.js';
import { formatFloat } from './elements.js';

const decoder = new TextDecoder();

/** The value of number and string attributes, "absent" for undefined, and the kind of all others. */
export function describeAttribute(attribute: Attribute | undefined): string {
  if (attribute === undefined) return 'absent';
  switch (attribute.kind) {
    case 'int':
      return `${attribute.value}`;
    case 'float':
      return formatFloat(attribute.value);
    case 'ints':
      return `[${attribute.value.join(', ')}]`;
    case 'floats':
      return `[${attribute.value.map(value => formatFloat(value)).join(', ')}]`;
    case 'string':
      return JSON.stringify(decoder.decode(attribute.value));
    case 'strings':
      return JSON.stringify(attribute.value.map(entry => decoder.decode(entry)));
    default:
      return attribute.kind;
  }
}
