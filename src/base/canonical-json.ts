/** Which bytes stand for a JSON value? One encoding per value: keys sorted by code unit, no spaces, numbers as JSON.stringify writes them. */
import { InternalError } from './invariant.js';
import type { Json } from './json.js';

/**
 * Encodes `value` so that equal values give equal text (RFC 8785 order and number form).
 * @throws InternalError on NaN, infinities and values that are not JSON: a manifest with one would not be readable again.
 */
export function encodeCanonicalJson(value: Json): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new InternalError(`${value} has no JSON form`);
      return JSON.stringify(value);
    case 'object':
      return value === null ? 'null' : encodeComposite(value);
    default:
      throw new InternalError(`a ${typeof value} has no JSON form`);
  }
}

function encodeComposite(value: readonly Json[] | { readonly [key: string]: Json }): string {
  if (Array.isArray(value)) return `[${value.map(encodeCanonicalJson).join(',')}]`;
  const members = value as { readonly [key: string]: Json };
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${encodeCanonicalJson(member)}`;
  }
  return `{${text}}`;
}
