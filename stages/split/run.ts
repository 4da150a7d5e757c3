/** Cuts a model into parts, writes them, and reports what each part has and which nodes are in no part. */
import { getDefined } from '../../src/base/invariant.js';
import { countOf } from '../../src/base/text/count-of.js';
import type { ExtractedSubgraph } from '../../src/detection/detector/exported-family.js';
import type { HostRecipe } from '../../src/detection/detector/host-recipe.js';
import type { PartValues } from '../../src/detection/detector/part-values.js';
import { parseRecipe } from '../../src/detection/read-definition.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Graph, Model, Node } from '../../src/onnx/ir/model.js';
import { byteLengthOf } from '../../src/onnx/serde/file-constant.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { cutStatic } from '../../src/onnx/surgery/cut-static.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import type { InputPaths, StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { extractsCpuSubgraphs, findFamily, readStaticCut, type SplitParams } from './params.js';
import type { PartReport, SplitReport } from './report.js';

/** Nodes and values of a part keep their ids of the whole model. */
export async function runSplit(job: StageJob<SplitParams>): Promise<void> {
  const { outputs, context } = job;
  const whole = await readInput(job.inputs, 'model', readModel);
  const { parts, found } = await cut(whole, job);
  for (const { name, model } of parts) await writeModel(getOutputPath(outputs, name), model);

  const inParts = new Set(parts.flatMap(({ model }) => [...model.graph.nodes.keys()]));
  const others = [...whole.graph.nodes.values()].filter(({ id }) => !inParts.has(id)).map(node => labelOf(whole.graph, node));
  if (others.length > 0)
    context.log(
      'warning',
      `${others.length} of ${whole.graph.nodes.size} nodes are in no part: ${others.slice(0, 5).join(', ')}${others.length > 5 ? ', …' : ''}`,
    );
  const report: SplitReport = {
    parts: Object.fromEntries(parts.map(({ name, values, model }) => [name, describePart(model, values)])),
    ...found,
    inNoPart: others,
  };
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
}

interface CutParts {
  readonly parts: readonly ExtractedSubgraph[];
  readonly found: Pick<SplitReport, 'found' | 'dataDependent'>;
}

function cut(whole: Model, job: StageJob<SplitParams>): Promise<CutParts> | CutParts {
  switch (job.params.cuts) {
    case 'structure':
      return cutByStructure(whole, job);
    case 'static':
      return cutBySizes(whole, job);
    default:
      return cutByName(whole, job);
  }
}

function cutBySizes(whole: Model, { params, context }: StageJob<SplitParams>): CutParts {
  const options = readStaticCut(params);
  const { parts, heads, dataDependent } = cutStatic(whole, options);
  const inRest = heads - options.heads.length;
  if (inRest > 0)
    context.log(
      'info',
      `${countOf(inRest, 'head')} of ${heads} stay${inRest === 1 ? 's' : ''} in the part rest: \`heads\` gives them names, and makes them parts`,
    );
  return { parts, found: { dataDependent } };
}

async function cutByName(whole: Model, { params, inputs }: StageJob<SplitParams>): Promise<CutParts> {
  const wanted = params.parts ?? (await readRecipe(inputs, params.recipe)).parts;
  const parts = Object.entries<PartValues>(wanted).map(
    ([name, values]): ExtractedSubgraph => ({ name, values, model: extractSubgraph(whole, values) }),
  );
  return { parts, found: {} };
}

/** The recipe has to be of the family that the params name, whose parts are the output ports. */
async function readRecipe(inputs: InputPaths, architecture: string | undefined): Promise<HostRecipe> {
  const recipe = parseRecipe(await readInput(inputs, 'recipe', readJsonFile));
  if (recipe.architecture === architecture) return recipe;
  throw new StageError(
    'recipe-architecture',
    `the host recipe is of architecture ${recipe.architecture}, the stage has \`recipe: ${architecture}\``,
    {
      help: `set \`recipe: ${recipe.architecture}\``,
    },
  );
}

async function cutByStructure(whole: Model, { params, inputs, outputs, context }: StageJob<SplitParams>): Promise<CutParts> {
  if (params.between === 'pieces') context.log('warning', '`between: pieces` is a former name; write `between: models`');
  const { load } = getDefined(findFamily(params)?.structureCut, 'the structure cut of the family');
  const cutWhole = await load();
  const { recipe, subgraphs, found } = cutWhole(whole, {
    config: await readInput(inputs, 'config', readJsonFile),
    fit: params.fit ?? 'static',
    cpuSubgraphs: extractsCpuSubgraphs(params) ? 'extract' : 'omit',
  });
  await writeJsonFile(getOutputPath(outputs, 'recipe'), recipe);
  return { parts: subgraphs, found: { found } };
}

/** Operator and first output, which is unique in a graph. */
function labelOf(graph: Graph, { opType, outputs }: Node): string {
  const first = outputs.find(output => output !== undefined);
  return first === undefined ? opType : `${opType} "${getValue(graph, first).name}"`;
}

function describePart({ graph }: Model, { inputs, outputs }: PartValues): PartReport {
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
