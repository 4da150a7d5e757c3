/** Plain data as JSON. */
import { InternalError } from '../invariant.js';
import type { Json } from '../json.js';

/** A copy of `value` as JSON. Members that are undefined are left out. @throws InternalError for data that JSON cannot represent. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object') return toJsonObject(value);
  throw new InternalError(`JSON cannot represent the ${typeof value} ${String(value)}`);
}

/** The same for an object. */
export function toJsonObject(value: object): { readonly [name: string]: Json } {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]));
}
