/** Cuts a model whose sizes depend on the data into models: the network of known sizes, its heads, and what the host runs before, between and after them. */
import { countOf } from '../../base/text/count-of.js';
import { getValue } from '../ir/edit.js';
import type { Model, Node, ValueId, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { valuesReadBy } from '../ir/reads.js';
import { isStatic } from '../shape-inference/context/dims.js';
import type { Known } from '../shape-inference/context/node-context.js';
import { inferShapes, isMadeDim, writeTypes } from '../shape-inference/infer-shapes.js';
import { extractSubgraph } from './extract.js';
import type { StaticCutOptions } from './static-part-names.js';
import { findStaticSteps, outputsOf, type StaticStep, type StaticSteps } from './static-parts.js';

export interface CutPart {
  readonly name: string;
  readonly values: { readonly inputs: readonly string[]; readonly outputs: readonly string[] };
  readonly model: Model;
}

export interface StaticCut {
  /** In the order in which they run. */
  readonly parts: readonly CutPart[];
  /** Number of heads in the model. */
  readonly heads: number;
  readonly dataDependent: readonly string[];
}

/**
 * Cuts `model`, whose nodes are in topological order and whose constants are folded. The parts, run in order on values of equal names, compute what the model does.
 * @throws OnnxError `static-cut` if the model has no network of known sizes, nothing after it, fewer heads than named, or other nodes before the network than `prepare` says.
 */
export function cutStatic(model: Model, options: StaticCutOptions): StaticCut {
  const found = findStaticSteps(model);
  const { sections, heads } = groupSteps(found, options);
  const sectionOf = new Map<ValueId, number>();
  const readIn = new Map<ValueId, Set<number>>();
  for (const [index, { nodes }] of sections.entries()) {
    for (const node of nodes) {
      for (const id of outputsOf(node)) sectionOf.set(id, index);
      for (const id of valuesReadBy(node)) readIn.set(id, (readIn.get(id) ?? new Set()).add(index));
    }
  }
  const results = new Set(model.graph.outputs);
  const isNeeded = (id: ValueId, index: number): boolean => results.has(id) || [...(readIn.get(id) ?? [])].some(reader => reader !== index);
  const parts = sections.flatMap(({ name, nodes }, index): CutPart[] => {
    if (name === undefined) return [];
    const inputs = [...model.graph.values.keys()].filter(
      id => readIn.get(id)?.has(index) === true && found.live.has(id) && sectionOf.get(id) !== index,
    );
    // Outputs that depend on no input, as folding makes them, are of the last part.
    const fixed = index === sections.length - 1 ? [...results].filter(id => !found.live.has(id)) : [];
    const outputs = [...nodes.flatMap(outputsOf).filter(id => isNeeded(id, index)), ...fixed];
    assertReachable(model, inputs, sections, sectionOf);
    return [extractPart(model, { name, isHead: options.heads.includes(name) }, { inputs, outputs }, found)];
  });
  return { parts, heads, dataDependent: found.dataDependent };
}

interface Section {
  /** Undefined: the nodes are in no part. */
  readonly name: string | undefined;
  readonly nodes: readonly Node[];
}

function groupSteps(
  { steps, dataDependent }: StaticSteps,
  options: StaticCutOptions,
): { readonly sections: readonly Section[]; readonly heads: number } {
  const first = steps.findIndex(({ kind }) => kind === 'network');
  if (first < 0)
    throw failure(
      `it has no layers of known sizes${describeDependence(dataDependent)}`,
      'pin the sizes of the inputs with `import`, and simplify the model first',
    );
  if (first === steps.length - 1)
    throw failure('it is a network of known sizes, and nothing follows its last layer', 'quantize and compile the model as a whole');
  const found = steps.flatMap(({ kind }, index) => (kind !== 'host' && index > first ? [index] : []));
  const { heads, prepare } = options;
  if (heads.length > found.length)
    throw failure(
      `it has ${countOf(found.length, 'head')}, and \`heads\` names ${heads.join(', ')}`,
      found.length === 0 ? 'leave out `heads`' : 'name as many heads as there are, or fewer',
    );
  if (first === 0 && prepare === 'model') throw failure('nothing precedes its first layer', 'leave out `prepare`');
  const nodesOf = (some: readonly StaticStep[]): readonly Node[] => some.flatMap(({ nodes }) => nodes);
  const sections: Section[] = [
    { name: prepare === 'model' ? 'prepare' : undefined, nodes: nodesOf(steps.slice(0, first)) },
    { name: 'network', nodes: nodesOf(steps.slice(first, first + 1)) },
  ];
  let next = first + 1;
  for (const [index, head] of heads.entries()) {
    const place = found[index] ?? next;
    sections.push(
      { name: `to_${head}`, nodes: nodesOf(steps.slice(next, place)) },
      { name: head, nodes: nodesOf(steps.slice(place, place + 1)) },
    );
    next = place + 1;
  }
  return { sections: [...sections, { name: 'rest', nodes: nodesOf(steps.slice(next)) }], heads: found.length };
}

/** Parts other than the network need nothing of nodes that are in no part. */
function assertReachable(
  { graph }: Model,
  inputs: readonly ValueId[],
  sections: readonly Section[],
  sectionOf: ReadonlyMap<ValueId, number>,
): void {
  const network = sections.findIndex(({ name }) => name === 'network');
  const open = inputs.find(id => sections[sectionOf.get(id) ?? network]?.name === undefined && !feedsNetwork(id, sections[network]));
  if (open !== undefined)
    throw failure(
      `nodes after the network read "${getValue(graph, open).name}", which nodes before it compute`,
      'keep these nodes as a part: `prepare: model`',
    );
}

const feedsNetwork = (id: ValueId, network: Section | undefined): boolean =>
  network?.nodes.some(node => [...valuesReadBy(node)].includes(id)) ?? false;

function extractPart(
  model: Model,
  { name, isHead }: { readonly name: string; readonly isHead: boolean },
  ends: { readonly inputs: readonly ValueId[]; readonly outputs: readonly ValueId[] },
  { types }: StaticSteps,
): CutPart {
  const namesOf = (ids: readonly ValueId[]): readonly string[] => ids.map(id => getValue(model.graph, id).name);
  const values = { inputs: namesOf(ends.inputs), outputs: namesOf(ends.outputs) };
  const part = extractSubgraph(model, values);
  for (const id of ends.inputs) {
    const value = getValue(part.graph, id);
    value.type = typeOf(types.get(id)) ?? value.type;
  }
  if (isHead) nameRois(part, name);
  writeTypes(part, inferShapes(part, { stated: 'ignore' }));
  return { name, values, model: part };
}

/** Gives the number of RoIs of a head a name, by which other stages fix it. */
function nameRois({ graph }: Model, head: string): void {
  const free = graph.inputs.map(id => getValue(graph, id)).filter(({ type }) => type?.kind === 'tensor' && !isStatic(type.dims));
  const [value, other] = free;
  if (value?.type?.kind !== 'tensor' || other !== undefined) return;
  const [first, ...rest] = value.type.dims ?? [];
  if (first === undefined && value.type.dims !== undefined && isStatic(rest))
    value.type = { ...value.type, dims: [`${head}_rois`, ...rest] };
}

function typeOf(known: Known | undefined): ValueType | undefined {
  if (known?.dtype === undefined) return undefined;
  return { kind: 'tensor', dtype: known.dtype, dims: known.dims?.map(dim => (isMadeDim(dim) ? undefined : dim)) };
}

function describeDependence([first]: readonly string[]): string {
  return first === undefined ? '' : `; sizes depend on the data from ${first}`;
}

function failure(problem: string, help: string): OnnxError {
  return new OnnxError('static-cut', `the model cannot be cut into networks of known sizes and the rest: ${problem}`, { help });
}
