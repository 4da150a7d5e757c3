/** What does every family of networks give to `export`? A model, the recipe of its parts, and what the report says of them. */
import type { JsonObject } from '../../src/base/json.js';
import type { Recipe } from '../../src/detection/parse-recipe.js';
import type { Model } from '../../src/onnx/ir/model.js';

export interface Exported {
  readonly model: Model;
  readonly recipe: Recipe;
  readonly report: JsonObject;
}

/** How often each operator stands in the model, by name. */
export function countOperators(model: Model): JsonObject {
  const counts: Record<string, number> = {};
  for (const node of model.graph.nodes.values()) counts[node.opType] = (counts[node.opType] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
