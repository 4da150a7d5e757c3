/** Flattening, selection and joining of metrics documents. */
import { type Figure, isFigure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';

/** Returns the metric values by dotted path, in the order of the document. @param levels of nesting; deeper values are left out. */
export function flattenMetrics(metrics: Json, levels = Number.POSITIVE_INFINITY): ReadonlyMap<string, Figure> {
  return new Map(figuresOf(metrics, '', levels));
}

/** The first dotted path that two figures have, as in `{"a.b": 1, "a": {"b": 2}}`. */
export function findRepeatedPath(metrics: Json): string | undefined {
  const known = new Set<string>();
  for (const [path] of figuresOf(metrics, '', Number.POSITIVE_INFINITY)) {
    if (known.has(path)) return path;
    known.add(path);
  }
  return undefined;
}

function* figuresOf(metrics: Json, prefix: string, levels: number): Generator<readonly [path: string, figure: Figure]> {
  if (!isJsonObject(metrics) || levels === 0) return;
  for (const [name, value] of Object.entries(metrics)) {
    if (isFigure(value)) yield [prefix + name, value];
    else yield* figuresOf(value, `${prefix}${name}.`, levels - 1);
  }
}

const HEADLINE_LEVELS = 2;

/**
 * The metrics that tables show, with their differences to a baseline and their spreads. Deeper metrics, such as one per value of a model, stay in the
 * artifact. Levels are those of the document: a name such as "no. 5" is one, also if it contains dots.
 */
export function flattenHeadlines(metrics: Json): ReadonlyMap<string, Figure> {
  const shown = flattenMetrics(metrics, HEADLINE_LEVELS);
  return new Map([...flattenMetrics(metrics, HEADLINE_LEVELS + 1)].filter(([path]) => shown.has(path) || !isOwnFigure(path)));
}

/** False for differences to a baseline and for spreads: tables show them beside their metric. */
export function isOwnFigure(path: string): boolean {
  return !/^(delta|spread)\./.test(path);
}

/** Joins the metrics of a stage's ports of that kind: the document of a single port, or the documents by port name. */
export function joinMetrics(found: readonly (readonly [port: string, metrics: JsonObject])[]): JsonObject | undefined {
  return found.length > 1 ? Object.fromEntries(found) : found[0]?.[1];
}
