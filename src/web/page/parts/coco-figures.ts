/** Figures of COCO in metrics. */
import { isJsonObject, type JsonObject } from '../../../base/json.js';

/** @returns undefined without the figure, and if there are no such objects (−1). */
export function findCocoFigure(metrics: JsonObject, kind: string, name: string): number | undefined {
  const figures = metrics[kind];
  const figure = isJsonObject(figures) ? figures[name] : undefined;
  return typeof figure === 'number' && figure >= 0 ? figure : undefined;
}
