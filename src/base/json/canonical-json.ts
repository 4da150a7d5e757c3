/** Canonical JSON encoding: keys sorted by code unit, no spaces, numbers as in JSON.stringify. */
import { InternalError } from '../invariant.js';
import type { Json } from '../json.js';

/**
 * Encodes `value` so that equal values give equal text (RFC 8785 order and number form).
 * @throws InternalError for NaN, infinities and values that are not JSON, because they could not be read back.
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
  for (const key of sortedKeys(members)) {
    const member = members[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoteKey(key)}:${encodeCanonicalJson(member)}`;
  }
  return `{${text}}`;
}

function sortedKeys(members: object): readonly string[] {
  const keys = Object.keys(members);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return keys.sort();
  return keys;
}

/** Cache of quoted keys: manifests of many stages contain the same few keys. */
const quotedKeys = new Map<string, string>();

function quoteKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const quoted = JSON.stringify(key);
  if (quotedKeys.size < 4096) quotedKeys.set(key, quoted);
  return quoted;
}
