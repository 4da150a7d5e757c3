/** Which figures does a metrics document hold? Its numbers by dotted path. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';

/** Numbers by dotted path, in the order of the document. */
export function flattenMetrics(metrics: Json, prefix = ''): ReadonlyMap<string, number> {
  const flat = new Map<string, number>();
  if (!isJsonObject(metrics)) return flat;
  for (const [name, value] of Object.entries(metrics)) {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (typeof value === 'number') flat.set(path, value);
    else for (const [inner, number] of flattenMetrics(value, path)) flat.set(inner, number);
  }
  return flat;
}

const DEPTH = 2;

/** Is it one of the figures that tables show? Deeper ones, such as one per value of a model, stay in the artifact; differences to a baseline stand beside their figure. */
export function isHeadline(path: string): boolean {
  return !path.startsWith('delta.') && path.split('.').length <= DEPTH;
}

/** The metrics of a stage from its ports of that kind: the document of the only one, or one by port. */
export function joinMetrics(found: readonly (readonly [port: string, metrics: JsonObject])[]): JsonObject | undefined {
  return found.length > 1 ? Object.fromEntries(found) : found[0]?.[1];
}
