/** The figures of a metrics document, by dotted path. */
import { type Figure, isFigure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';

/** Figures by dotted path, in the order of the document. */
export function flattenMetrics(metrics: Json): ReadonlyMap<string, Figure> {
  const flat = new Map<string, Figure>();
  addFigures(metrics, '', flat);
  return flat;
}

function addFigures(metrics: Json, prefix: string, flat: Map<string, Figure>): void {
  if (!isJsonObject(metrics)) return;
  for (const [name, value] of Object.entries(metrics)) {
    if (isFigure(value)) flat.set(prefix + name, value);
    else addFigures(value, `${prefix}${name}.`, flat);
  }
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
