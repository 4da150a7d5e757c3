/** Flattening, selection and joining of metrics documents. */
import { type Figure, isFigure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';

/** Returns the metric values by dotted path, in the order of the document. */
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

/**
 * Whether tables show the metric. Deeper metrics, such as one per value of a model, stay in the artifact.
 * Differences to a baseline and spreads are shown beside their metric.
 */
export function isHeadline(path: string): boolean {
  return !/^(delta|spread)\./.test(path) && path.split('.').length <= DEPTH;
}

/** Joins the metrics of a stage's ports of that kind: the document of a single port, or the documents by port name. */
export function joinMetrics(found: readonly (readonly [port: string, metrics: JsonObject])[]): JsonObject | undefined {
  return found.length > 1 ? Object.fromEntries(found) : found[0]?.[1];
}
