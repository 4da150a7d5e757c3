/** Extracts the CPU subgraphs of a whole detector: the nodes before the box head, before the mask head, and after it. */

import { getDefined } from '../../../../base/invariant.js';
import { getNode, getValue } from '../../../../onnx/ir/edit.js';
import type { Model, Node, NodeId, ValueId, ValueType } from '../../../../onnx/ir/model.js';
import { valuesReadBy } from '../../../../onnx/ir/reads.js';
import { describeNode, type Known } from '../../../../onnx/shape-inference/context/node-context.js';
import { inferShapes, isMadeDim } from '../../../../onnx/shape-inference/infer-shapes.js';
import type { PartValues } from '../../../detector/part-values.js';
import { CPU_SUBGRAPHS, type CpuSubgraph } from '../part-names.js';
import type { MaskRcnnRecipe } from '../recipe.js';
import { extractNamed, type NamedValue, type TypedInput } from './extract-named.js';
import type { ValuePlaces } from './extract-parts.js';
import { notFound } from './not-found.js';

export interface ExtractedModel {
  readonly values: PartValues;
  readonly model: Model;
}

/**
 * The subgraphs of `whole` around its parts. Run in order, parts and subgraphs compute the outputs of the whole from `image`: `backbone`, `to_box`
 * (proposals and their pooled features), `box_head`, `to_mask` (detections and their pooled features), `mask_head`, `rest` (the remaining outputs of the
 * whole). A subgraph has the nodes that its outputs need and that no earlier subgraph has.
 *
 * @param places the values of the recipe in `whole`: see `extractParts`.
 * @throws DetectionError `maskrcnn-structure` where a subgraph would need the image itself.
 */
export function extractCpuSubgraphs(
  whole: Model,
  recipe: MaskRcnnRecipe,
  places: ValuePlaces,
): Readonly<Record<CpuSubgraph, ExtractedModel>> {
  const { graph } = whole;
  const placeOf = (name: string): ValueId => getDefined(places.get(name), `the place of "${name}"`);
  const given = new Set(Object.values(recipe.parts).flatMap(({ outputs }) => outputs.map(placeOf)));
  const live = findLive(whole, given);
  const taken = new Set<NodeId>();
  const nodesBehind = (targets: readonly ValueId[]): readonly Node[] => {
    const nodes = collectBehind(whole, targets, given).filter(({ id }) => !taken.has(id));
    for (const { id } of nodes) taken.add(id);
    return nodes;
  };
  const heads = [placeOf(recipe.boxHead.input), placeOf(recipe.maskHead.input)] as const;
  const nodes: Readonly<Record<CpuSubgraph, readonly Node[]>> = {
    to_box: nodesBehind([heads[0]]),
    to_mask: nodesBehind([heads[1]]),
    rest: nodesBehind(graph.outputs),
  };

  const ends = CPU_SUBGRAPHS.map(name => {
    const made = new Set(nodes[name].flatMap(({ outputs }) => outputs.filter(id => id !== undefined)).filter(id => live.has(id)));
    const reads = new Set(nodes[name].flatMap(node => [...valuesReadBy(node)]).filter(id => live.has(id) && !made.has(id)));
    return { name, made, reads };
  });
  const wanted = new Set([...heads, ...graph.outputs, ...ends.flatMap(({ reads }) => [...reads])]);
  const types = inferShapes(whole, { stated: 'ignore' });
  const nameOf = namesOf(whole, places);
  const end = (id: ValueId): NamedValue => ({ id, name: nameOf(id) });
  const input = (id: ValueId): TypedInput => ({ ...end(id), type: typeOf(types.get(id), getValue(graph, id).type, nameOf(id)) });
  const subgraphs = ends.map(({ name, made, reads }): [string, ExtractedModel] => {
    const inputs = [...reads].sort((a, b) => a - b).map(input);
    const outputs = [...made].filter(id => wanted.has(id)).map(end);
    const names = (side: readonly NamedValue[]): string[] => side.map(({ name }) => name);
    return [name, { values: { inputs: names(inputs), outputs: names(outputs) }, model: extractNamed(whole, inputs, outputs) }];
  });
  return Object.fromEntries(subgraphs) as Record<CpuSubgraph, ExtractedModel>;
}

/** The values that depend on outputs of the parts. All others are constants, which every subgraph has its own copy of. */
function findLive({ graph }: Model, given: ReadonlySet<ValueId>): ReadonlySet<ValueId> {
  const live = new Set(given);
  for (const node of graph.nodes.values()) {
    if (![...valuesReadBy(node)].some(id => live.has(id))) continue;
    for (const output of node.outputs) if (output !== undefined) live.add(output);
  }
  return live;
}

/** The nodes that `targets` need, back to the given values. */
function collectBehind({ graph }: Model, targets: readonly ValueId[], given: ReadonlySet<ValueId>): readonly Node[] {
  const nodes = new Set<Node>();
  const seen = new Set<ValueId>(given);
  const pending = targets.map(value => ({ value, reader: undefined as Node | undefined }));
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    if (seen.has(step.value)) continue;
    seen.add(step.value);
    const { producer, constant, name } = getValue(graph, step.value);
    if (producer === undefined && constant === undefined)
      throw notFound(
        `subgraphs that begin after the first convolution, but ${step.reader === undefined ? 'an output is' : `${describeNode(step.reader, graph)} reads`} the model's input "${name}"`,
        'pin the input size of the model with `import`',
      );
    if (producer === undefined) continue;
    const node = getNode(graph, producer);
    nodes.add(node);
    for (const value of valuesReadBy(node)) pending.push({ value, reader: node });
  }
  return [...nodes].sort((a, b) => a.id - b.id);
}

/** Values of the recipe have their names in it. Other values keep their names, unless the recipe uses them. */
function namesOf({ graph }: Model, places: ValuePlaces): (id: ValueId) => string {
  const ours = new Map([...places].map(([name, id]) => [id, name]));
  return id => {
    const { name } = getValue(graph, id);
    return ours.get(id) ?? (places.has(name) ? `${name}_inner` : name);
  };
}

/** The type of a subgraph's input. Sizes that are not certain stay free. */
function typeOf(inferred: Known | undefined, stated: ValueType | undefined, name: string): ValueType {
  if (stated?.kind === 'other') return stated;
  const dtype = inferred?.dtype ?? stated?.dtype;
  if (dtype === undefined) throw notFound(`known types of the values between subgraphs, but the type of "${name}" is not known`);
  return { kind: 'tensor', dtype, dims: inferred?.dims?.map(dim => (isMadeDim(dim) ? undefined : dim)) };
}
