/** Steps about sizes: fix free ones, end the model before those that depend on data, take one image or RoI per call. */

import { cloneModel } from '../../onnx/ir/clone.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Dim, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import { FOLD_LIMIT_BYTES } from '../../onnx/passes/fold-limit.js';
import { FOLDING_PASSES, simplifyToFixedPoint } from '../../onnx/passes/simplify.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { isStatic } from '../../onnx/shape-inference/context/dims.js';
import { cutStatic } from '../../onnx/surgery/cut-static.js';
import { extractSubgraph } from '../../onnx/surgery/extract.js';
import { describeStart, findDataOrigins, hasFixedSizes } from '../units/free-sizes.js';
import { prepareModel } from '../units/prepare-model.js';
import { tensorOf } from '../units/unit-facts.js';

/** What a step does, before it is judged. */
export interface Step {
  readonly text: string;
  readonly param?: string;
  readonly model: Model;
}

/** Stands for a free height, width or length: nearly every detector takes a multiple of 32. */
const STAND_IN = 320;

/** Fixes the free sizes of the inputs. A text says why it cannot. */
export async function fixSizes(model: Model, evaluate: Evaluate): Promise<Step | string> {
  const free = model.graph.inputs.flatMap(id => {
    const { name, dims } = tensorOf(model, id);
    return findConstantValue(model, id) !== undefined || isStatic(dims) ? [] : [{ id, name, dims }];
  });
  if (free.length === 0) return 'all sizes of the inputs are fixed';
  const unranked = free.find(({ dims }) => dims === undefined);
  if (unranked !== undefined)
    return `nothing says how many dimensions the input "${unranked.name}" has: name its whole shape under \`shapes\` of import`;
  const shapes = free.map(({ id, name, dims = [] }) => ({ id, name, dims: dims.map((dim, axis) => standIn(dim, axis, dims.length)) }));
  const isChosen = free.some(({ dims = [] }) => dims.some((dim, axis) => typeof dim !== 'number' && axis > 0));
  const shown = shapes.map(({ name, dims }) => `${name} [${dims.join(', ')}]`).join(', ');
  return {
    text: `fix the sizes of the inputs: ${shown}${isChosen ? `; ${STAND_IN} and 3 stand for your own sizes` : ''}`,
    param: `shapes: {${shapes.map(({ name, dims }) => `${quote(name)}: [${dims.join(', ')}]`).join(', ')}}`,
    model: await withShapes(model, new Map(shapes.map(({ id, dims }) => [id, dims])), evaluate),
  };
}

function standIn(dim: Dim, axis: number, rank: number): number {
  if (typeof dim === 'number') return dim;
  if (axis === 0) return 1;
  return axis === 1 && rank === 4 ? 3 : STAND_IN;
}

/** One image or RoI in inputs of rank 4. A text says why it cannot. */
export async function takeOne(model: Model, evaluate: Evaluate): Promise<Step | string> {
  const shapes = model.graph.inputs.flatMap(id => {
    const { name, dims } = tensorOf(model, id);
    const [batch, ...others] = dims ?? [];
    return dims?.length === 4 && typeof batch === 'number' && batch > 1 ? [{ id, name, batch, dims: [1, ...others] }] : [];
  });
  const [first] = shapes;
  if (first === undefined) return 'no input of rank 4 has a batch above 1';
  return {
    text: `export the model with batch 1 instead of ${first.batch}; a head that runs once per RoI takes several RoIs per call on tiles (\`tile-rois\`)`,
    model: await withShapes(model, new Map(shapes.map(({ id, dims }) => [id, dims])), evaluate),
  };
}

/** Ends the model before the nodes whose output sizes depend on data. A text says why it cannot. */
export async function cutBeforeData(model: Model, evaluate: Evaluate): Promise<Step | string> {
  const prepared = await prepareModel(model, evaluate);
  const { graph } = prepared;
  const origins = findDataOrigins(prepared);
  if (origins.length === 0) return 'no node has free sizes behind fixed ones';
  const ends = [
    ...origins.flatMap(({ inputs }) => inputs),
    ...graph.outputs.filter(id => hasFixedSizes(prepared, id) && !isBehind(prepared, id, origins)),
  ];
  const computed = [...new Set(ends)].filter(id => id !== undefined && getValue(graph, id).producer !== undefined);
  const names = findNetworkOutputs(prepared) ?? computed.map(id => getValue(graph, id as ValueId).name);
  if (names.length === 0) return `${describeStart(origins)}, and nothing is computed before`;
  const inputs = graph.inputs.filter(id => findConstantValue(prepared, id) === undefined).map(id => getValue(graph, id).name);
  return {
    text: `${describeStart(origins)}: end the model at ${names.map(name => `"${name}"`).join(', ')}, and compute the rest on the host (\`split\` with \`cuts: static\` finds both parts)`,
    param: `cut: {outputs: [${names.map(quote).join(', ')}]}`,
    model: extractSubgraph(prepared, { inputs, outputs: names }),
  };
}

/** The outputs of the layers whose sizes are known, where the rest of the model depends on them: after its last layer, a detector only chooses what is found. */
function findNetworkOutputs(model: Model): readonly string[] | undefined {
  try {
    return cutStatic(model, { heads: [], prepare: 'drop' }).parts.find(({ name }) => name === 'network')?.values.outputs;
  } catch (error) {
    if (error instanceof OnnxError && error.code === 'static-cut') return undefined;
    throw error;
  }
}

function isBehind(model: Model, output: ValueId, origins: readonly Node[]): boolean {
  const { graph } = model;
  const starts = new Set(origins.map(({ id }) => id));
  const seen = new Set<ValueId>();
  const pending = [output];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const { producer } = getValue(graph, id);
    if (producer === undefined) continue;
    if (starts.has(producer)) return true;
    pending.push(...(graph.nodes.get(producer)?.inputs ?? []).filter(input => input !== undefined));
  }
  return false;
}

/** A copy in which all types but those of constants and inputs are inferred again, with the arithmetic on shapes folded as `import` folds it. */
async function withShapes(model: Model, shapes: ReadonlyMap<ValueId, readonly Dim[]>, evaluate: Evaluate): Promise<Model> {
  const copy = cloneModel(model);
  const inputs = new Set(copy.graph.inputs);
  for (const value of copy.graph.values.values()) {
    if (value.type?.kind !== 'tensor' || value.constant !== undefined) continue;
    const dims = shapes.get(value.id);
    if (dims !== undefined) value.type = { ...value.type, dims };
    else if (!inputs.has(value.id)) value.type = undefined;
  }
  sortTopologically(copy.graph);
  await simplifyToFixedPoint(copy, { evaluate, foldLimitBytes: FOLD_LIMIT_BYTES, check: () => [], passes: FOLDING_PASSES });
  return copy;
}

/** A name as a YAML scalar. */
function quote(name: string): string {
  return /^[A-Za-z_][\w.]*$/.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(name) ? name : JSON.stringify(name);
}
