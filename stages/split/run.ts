/** How is a model cut? Each part is extracted between its values, written, and reported with what it holds; and what no part holds. */
import type { Json, JsonObject } from '../../src/base/json.js';
import type { PartValues } from '../../src/detection/detector/part-values.js';
import { parseDetectorConfig } from '../../src/detection/families/maskrcnn/config.js';
import { type TakenPiece, takeBetween } from '../../src/detection/families/maskrcnn/cut/extract-cpu-subgraphs.js';
import { takeParts } from '../../src/detection/families/maskrcnn/cut/extract-parts.js';
import { MASKRCNN_PIECES } from '../../src/detection/families/maskrcnn/cut-names.js';
import type { MaskRcnnPart } from '../../src/detection/families/maskrcnn/recipe.js';
import { encodeRecipe, parseRecipe, type Recipe } from '../../src/detection/parse-recipe.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Graph, Model, Node } from '../../src/onnx/ir/model.js';
import { byteLengthOf } from '../../src/onnx/serde/file-constant.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import type { InputPaths, StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { SplitParams } from './params.js';

/** A part's nodes and values have the ids that they have in the whole. */
interface Part {
  readonly name: string;
  readonly values: PartValues;
  readonly model: Model;
}

export async function runSplit(job: StageJob<SplitParams>): Promise<void> {
  const { outputs, context } = job;
  const whole = await readInput(job.inputs, 'model', readModel);
  const { parts, found } = job.params.cuts === 'structure' ? await cutByStructure(whole, job) : await cutByName(whole, job);
  for (const { name, model } of parts) await writeModel(getOutputPath(outputs, name), model);

  const held = new Set(parts.flatMap(({ model }) => [...model.graph.nodes.keys()]));
  const left = [...whole.graph.nodes.values()].filter(({ id }) => !held.has(id)).map(node => labelOf(whole.graph, node));
  if (left.length > 0)
    context.log(
      'warning',
      `no part holds ${left.length} of ${whole.graph.nodes.size} nodes: ${left.slice(0, 5).join(', ')}${left.length > 5 ? ', …' : ''}`,
    );
  const report = Object.fromEntries(parts.map(({ name, values, model }): [string, Json] => [name, describePart(model, values)]));
  await writeJsonFile(getOutputPath(outputs, 'report'), { parts: report, ...found, inNoPart: left });
}

async function cutByName(whole: Model, { params, inputs }: StageJob<SplitParams>): Promise<{ parts: readonly Part[]; found: JsonObject }> {
  const wanted = params.parts ?? (await readRecipe(inputs, params.recipe)).parts;
  const parts = Object.entries<PartValues>(wanted).map(([name, values]): Part => ({ name, values, model: extractSubgraph(whole, values) }));
  return { parts, found: {} };
}

/** The parts are ports, which were known before the recipe was. */
async function readRecipe(inputs: InputPaths, architecture: SplitParams['recipe']): Promise<Recipe> {
  const recipe = parseRecipe(await readInput(inputs, 'recipe', readJsonFile));
  if (recipe.architecture === architecture) return recipe;
  throw new StageError(
    'recipe-architecture',
    `the recipe is of architecture ${recipe.architecture}, the stage has \`recipe: ${architecture}\``,
    {
      help: `set recipe: ${recipe.architecture}`,
    },
  );
}

async function cutByStructure(
  whole: Model,
  { params, inputs, outputs }: StageJob<SplitParams>,
): Promise<{ parts: readonly Part[]; found: JsonObject }> {
  const { config } = parseDetectorConfig(await readInput(inputs, 'config', readJsonFile), undefined);
  const { parts, recipe, places } = takeParts(whole, config, params.fit ?? 'static');
  await writeJsonFile(getOutputPath(outputs, 'recipe'), encodeRecipe(recipe));
  const taken = Object.entries(parts).map(([name, model]): [string, TakenPiece] => [
    name,
    { values: recipe.parts[name as MaskRcnnPart], model },
  ]);
  const all = new Map(params.between === 'pieces' ? [...taken, ...Object.entries(takeBetween(whole, recipe, places))] : taken);
  const ordered = MASKRCNN_PIECES.flatMap((name): Part[] => {
    const piece = all.get(name);
    return piece === undefined ? [] : [{ name, ...piece }];
  });
  const found = Object.fromEntries([...places].map(([name, id]) => [name, getValue(whole.graph, id).name]));
  return { parts: ordered, found: { found } };
}

/** Operator and first output: unique in a graph. */
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
    initializerBytes: constants.reduce((sum, constant) => sum + byteLengthOf(constant), 0),
  };
}
