/** How is a model cut? Extract each part between its values, write it, and report what it holds and what is left. */
import type { Json, JsonObject } from '../../src/base/json.js';
import { type PartValues, parseRecipe } from '../../src/detection/recipe.js';
import { extractSubgraph } from '../../src/onnx/extract.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Graph, Model, Node } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import type { SplitParams } from './params.js';

export async function runSplit({ params, inputs, outputs, context }: StageJob<SplitParams>): Promise<void> {
  const whole = await readInput(inputs, 'model', readModel);
  const parts = params.parts ?? parseRecipe(await readInput(inputs, 'recipe', readJsonFile)).parts;

  const held = new Set<string>();
  const report: Record<string, Json> = {};
  for (const [name, values] of Object.entries(parts) as [string, PartValues][]) {
    const part = extractSubgraph(whole, values);
    for (const node of part.graph.nodes.values()) held.add(labelOf(part.graph, node));
    report[name] = describePart(part, values);
    await writeModel(getOutputPath(outputs, name), part);
  }
  const left = [...whole.graph.nodes.values()].map(node => labelOf(whole.graph, node)).filter(label => !held.has(label));
  if (left.length > 0)
    context.log(
      'warning',
      `no part holds ${left.length} of ${whole.graph.nodes.size} nodes: ${left.slice(0, 5).join(', ')}${left.length > 5 ? ', …' : ''}`,
    );
  await writeJsonFile(getOutputPath(outputs, 'report'), { parts: report, inNoPart: left });
}

/** Operator and first output: unique in a graph, and kept by extraction. */
function labelOf(graph: Graph, { opType, outputs }: Node): string {
  const first = outputs.find(output => output !== undefined);
  return first === undefined ? opType : `${opType} "${getValue(graph, first).name}"`;
}

function describePart({ graph }: Model, { inputs, outputs }: PartValues): JsonObject {
  const constants = [...graph.values.values()].flatMap(({ constant }) =>
    constant === undefined || constant.dtype === 'string' ? [] : [constant],
  );
  return {
    inputs,
    outputs,
    nodes: graph.nodes.size,
    initializers: constants.length,
    initializerBytes: constants.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
  };
}
