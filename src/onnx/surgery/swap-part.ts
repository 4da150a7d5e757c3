/** Replacement of the part of a model between given values by another model. */

import { getDefined } from '../../base/invariant.js';
import { cloneModel } from '../ir/clone.js';
import { getValue, removeValue, replaceAllUses } from '../ir/edit.js';
import type { Graph, Model, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { sortTopologically } from '../ir/sort.js';
import { removeDeadFrom } from '../passes/remove-dead.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { assertCompatible } from './assert-compatible.js';
import type { Cut } from './extract.js';
import { extractSubgraph } from './extract.js';
import { getNamedValue } from './find-value.js';
import { mergeFunctions } from './merge-functions.js';
import type { Rename } from './rename.js';
import { alignOpsets, spliceGraph } from './splice.js';

export interface Swapped {
  /** Values and nodes of the replacement that were renamed because their names were taken. */
  readonly renamed: readonly Rename[];
  /** Labels of the nodes and constants that became unneeded and were removed. */
  readonly removed: readonly string[];
}

/**
 * Replaces the nodes that compute `cut.outputs` from `cut.inputs` by `replacement`. Its inputs and outputs are matched by name if all names are equal, else by
 * order. Nodes that are needed elsewhere are kept. `model` is edited in place; if it throws, it may be partly edited. The caller infers shapes again.
 * @throws OnnxError as `extractSubgraph`; what shape inference throws; `swap-ends` if the counts differ, `type-mismatch`, `opset-conversion`, `opsets-differ`, `functions-differ`.
 */
export function swapPart(model: Model, cut: Cut, replacement: Model): Swapped {
  extractSubgraph(model, cut);
  const other = cloneModel(replacement);
  alignOpsets(model, other);
  for (const one of [model, other]) writeTypes(one, inferShapes(one, { stated: 'ignore' }));
  const { graph } = model;
  const inputs = pairEnds(graph, cut.inputs, other.graph, other.graph.inputs, 'input');
  const outputs = pairEnds(graph, cut.outputs, other.graph, other.graph.outputs, 'output');
  for (const { own, end } of inputs) assertCompatible(own.type, end.type, `"${own.name}" to "${end.name}"`);
  for (const { own, end } of outputs) assertCompatible(end.type, own.type, `"${end.name}" as "${own.name}"`);
  const given = new Set(inputs.map(({ own }) => own.id));
  const { ids, renamed } = spliceGraph(model, other.graph, new Map(inputs.map(({ own, end }) => [end.id, own.id])));
  for (const { own, end } of outputs) takeOver(graph, own, getDefined(ids.get(end.id), `the copy of "${end.name}"`), given);
  model.unknown = mergeFunctions(model.unknown, other.unknown);
  sortTopologically(graph);
  const ownNames = new Set(outputs.map(({ end }) => end.name));
  return { renamed: renamed.filter(({ from }) => !ownNames.has(from)), removed: removeDeadFrom(graph) };
}

interface EndPair {
  readonly own: Value;
  /** Of the replacement. */
  readonly end: Value;
}

function pairEnds(graph: Graph, names: readonly string[], other: Graph, ids: readonly ValueId[], what: string): readonly EndPair[] {
  const ends = ids.map(id => getValue(other, id)).filter(({ constant }) => what === 'output' || constant === undefined);
  if (ends.length !== names.length) {
    const listed = ends.map(({ name }) => name).join(', ');
    throw new OnnxError(
      'swap-ends',
      `the replacement has ${ends.length} ${what}s (${listed}), the part has ${names.length} (${names.join(', ')})`,
    );
  }
  const isNamed = names.every(name => ends.some(end => end.name === name));
  return names.map((name, index) => {
    const end = isNamed ? ends.find(value => value.name === name) : ends[index];
    return { own: getNamedValue(graph, name), end: getDefined(end, `${what} ${index} of the replacement`) };
  });
}

/** Makes the producer of `copy` the producer of `own`. Values in `given`, the inputs of the replacement, cannot be taken over. */
function takeOver(graph: Graph, own: Value, copy: ValueId, given: ReadonlySet<ValueId>): void {
  const { producer, name } = getValue(graph, copy);
  const old = own.producer === undefined ? undefined : graph.nodes.get(own.producer);
  if (old === undefined) throw new OnnxError('swap-ends', `"${own.name}" has no producer, so it cannot be replaced`);
  const maker = producer === undefined ? undefined : graph.nodes.get(producer);
  if (maker === undefined || given.has(copy) || !maker.outputs.includes(copy)) {
    throw new OnnxError('swap-ends', `"${own.name}" would be an alias of "${name}", which no node of the replacement computes`, {
      help: 'the replacement must compute each output by a separate node; add Identity nodes if necessary',
    });
  }
  old.outputs = old.outputs.map(id => (id === own.id ? undefined : id));
  maker.outputs = maker.outputs.map(id => (id === copy ? own.id : id));
  own.producer = maker.id;
  replaceAllUses(graph, copy, own.id);
  removeValue(graph, copy);
}
