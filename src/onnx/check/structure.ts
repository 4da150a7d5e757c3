/** Checks of the structure of a model: names, order, producers and constants. */
import { byteLength } from '../../tensor/dtype.js';
import { countElements, formatShape, sameShape } from '../../tensor/shape.js';
import { subgraphsOf } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeCycle, findTopologicalOrder, type TopologicalOrder } from '../ir/sort.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import { byteLengthOf } from '../serde/file-constant.js';
import { findSparseInitializers } from '../serde/sparse-initializers.js';

import type { ModelFunction } from './functions.js';
import { describe, nameOf, type Report } from './problem.js';

/** Reports the structural problems of the graph of `model`, including subgraphs. */
export function checkStructure(model: Model, report: Report): void {
  const whole: Context = { opsets: model.opsets, attributes: undefined };
  checkGraph(whole, model.graph, { ...NO_OUTER, isMain: true }, report);
}

/** Checks the body of a function, whose inputs have no types. */
export function checkFunctionStructure({ opsets, attributes, body }: ModelFunction, report: Report): void {
  checkGraph({ opsets, attributes }, body, { ...NO_OUTER, isMain: false }, report);
}

/** The operator sets that apply to a graph and its subgraphs, and the attributes of the function if it is a function body. */
interface Context {
  readonly opsets: ReadonlyMap<string, number>;
  readonly attributes: ReadonlySet<string> | undefined;
}

/** The names of outer graphs, and their values that are computed before this graph. */
interface Outer {
  readonly hasName: (name: string) => boolean;
  readonly isDefined: (id: ValueId) => boolean;
  readonly isMain: boolean;
}

const NO_OUTER: Pick<Outer, 'hasName' | 'isDefined'> = { hasName: () => false, isDefined: () => false };

/** @returns 'complete' if every value that the graph and its subgraphs read is defined before. */
function checkGraph(whole: Context, graph: Graph, outer: Outer, report: Report): 'complete' | 'incomplete' {
  const label = `graph "${graph.name}"`;
  const names = checkNames(graph, label, outer, report);
  for (const value of graph.values.values()) if (value.constant !== undefined) checkConstant(value, value.constant, label, report);
  checkEnds(graph, label, outer, report);
  checkProducers(graph, label, report);
  const defined = new Set(sourcesOf(graph, label, report));
  const isDefined = (id: ValueId): boolean => defined.has(id) || outer.isDefined(id);
  const inner: Outer = { hasName: name => names.has(name) || outer.hasName(name), isDefined, isMain: false };
  let order: TopologicalOrder['kind'] | undefined;
  for (const node of graph.nodes.values()) {
    checkNode(whole, graph, node, report);
    for (const id of node.inputs) {
      if (id === undefined || isDefined(id)) continue;
      order ??= checkOrder(graph, label, report);
      reportUndefined(graph, node, id, order, report);
    }
    for (const sub of subgraphsOf(node)) {
      if (checkGraph(whole, sub, inner, report) === 'incomplete') order ??= checkOrder(graph, label, report);
    }
    for (const id of node.outputs) if (id !== undefined) defined.add(id);
  }
  for (const id of graph.outputs) {
    if (isDefined(id)) continue;
    report('undefined-value', `${label}: its output ${nameOf(graph, id)} is undefined`);
    order ??= checkOrder(graph, label, report);
  }
  return order === undefined ? 'complete' : 'incomplete';
}

/** Called when a value is read before it is defined; without such a value there is no cycle. */
function checkOrder(graph: Graph, label: string, report: Report): TopologicalOrder['kind'] {
  const order = findTopologicalOrder(graph);
  if (order.kind === 'cycle') report('cycle', `${label} has a cycle: ${describeCycle(graph, order.nodes)}`);
  return order.kind;
}

/** The values that are defined before the first node: inputs, initializers and sparse initializers. */
function sourcesOf(graph: Graph, label: string, report: Report): ValueId[] {
  const constants = [...graph.values.values()].filter(value => value.constant !== undefined).map(({ id }) => id);
  return [...graph.inputs, ...constants, ...sparseOf(graph, label, report)];
}

function sparseOf(graph: Graph, label: string, report: Report): Iterable<ValueId> {
  try {
    return findSparseInitializers(graph);
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    report('malformed-field', `${label} has a malformed field: ${error.message}`);
    return [];
  }
}

function reportUndefined(graph: Graph, node: Node, id: ValueId, order: 'order' | 'cycle', report: Report): void {
  const producer = graph.values.get(id)?.producer;
  if (producer === undefined || !graph.nodes.has(producer)) {
    report('undefined-value', `${describe(graph, node)} reads ${nameOf(graph, id)}, which is undefined`);
  } else if (order === 'order') {
    report('node-order', `${describe(graph, node)} reads ${nameOf(graph, id)}, which is the output of a later node`);
  }
}

function checkNames(graph: Graph, label: string, { hasName }: Outer, report: Report): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of graph.values.values()) {
    if (name === '') report('empty-name', `${label} has a value without a name`);
    else if (names.has(name)) report('duplicate-name', `${label} has two values named "${name}"`);
    else if (hasName(name)) report('duplicate-name', `${label} has a value "${name}", which an outer graph also has`);
    names.add(name);
  }
  return names;
}

function checkConstant(value: Value, constant: Constant, label: string, report: Report): void {
  const count = countElements(constant.dims);
  const described = (): string => `${label}: initializer "${value.name}" (${constant.dtype} ${formatShape(constant.dims)})`;
  if ('data' in constant) {
    if (constant.data.length !== count) report('constant-size', `${described()} needs ${count} strings, found ${constant.data.length}`);
  } else if (byteLengthOf(constant) !== byteLength(constant.dtype, count)) {
    report('constant-size', `${described()} needs ${byteLength(constant.dtype, count)} bytes, found ${byteLengthOf(constant)}`);
  }
  const { type } = value;
  if (type === undefined) return;
  if (type.kind !== 'tensor' || (type.dtype !== undefined && type.dtype !== constant.dtype)) {
    report('constant-type', `${described()} is declared as ${type.kind === 'tensor' ? type.dtype : 'another type than tensor'}`);
  } else if (
    type.dims !== undefined &&
    !sameShape(
      type.dims.map((dim, axis) => (typeof dim === 'number' ? dim : (constant.dims[axis] ?? -1))),
      constant.dims,
    )
  ) {
    report('constant-type', `${described()} is declared with shape ${formatShape(type.dims.map(dim => dim ?? '?'))}`);
  }
}

function checkEnds(graph: Graph, label: string, outer: Outer, report: Report): void {
  if (graph.outputs.length === 0) report('no-outputs', `${label} has no outputs`);
  for (const [side, ids] of [
    ['input', graph.inputs],
    ['output', graph.outputs],
  ] as const) {
    for (const [index, id] of ids.entries())
      if (ids.indexOf(id) !== index) report('repeated-end', `${label} lists its ${side} ${nameOf(graph, id)} twice`);
  }
  if (!outer.isMain) return;
  for (const id of graph.inputs)
    if (graph.values.get(id)?.type === undefined) report('untyped-input', `${label}: input ${nameOf(graph, id)} has no type`);
}

function checkProducers(graph: Graph, label: string, report: Report): void {
  const producers = new Map<ValueId, Node>();
  const inputs = new Set(graph.inputs);
  for (const node of graph.nodes.values()) {
    for (const id of node.outputs) {
      if (id === undefined) continue;
      const other = producers.get(id);
      if (other !== undefined)
        report('producer', `${label}: ${nameOf(graph, id)} is produced by ${describe(graph, other)} and by ${describe(graph, node)}`);
      if (!graph.values.has(id)) report('producer', `${describe(graph, node)} produces a value that the graph does not have`);
      producers.set(id, node);
    }
  }
  for (const value of graph.values.values()) {
    const producer = producers.get(value.id);
    if (producer?.id !== value.producer)
      report('producer', `${label}: "${value.name}" refers to another producer than the node that produces it`);
    if (producer !== undefined && (value.constant !== undefined || inputs.has(value.id))) {
      report('producer', `${label}: "${value.name}" is produced by ${describe(graph, producer)} and is also an input or initializer`);
    }
  }
}

function checkNode(whole: Context, graph: Graph, node: Node, report: Report): void {
  if (node.opType === '') report('no-operator', `${describe(graph, node)} has no operator`);
  if (!whole.opsets.has(node.domain)) {
    report('opset-missing', `${describe(graph, node)} has the domain "${node.domain}", which the model does not import`);
  }
  for (const [name, attribute] of node.attributes) {
    if (attribute.kind === 'ref' && whole.attributes === undefined)
      report('attribute', `${describe(graph, node)}: attribute "${name}" refers to an attribute of a function, but is not in a function`);
    if (attribute.kind === 'ref' && whole.attributes?.has(attribute.refName) === false)
      report(
        'attribute',
        `${describe(graph, node)}: attribute "${name}" refers to "${attribute.refName}", which the function does not have`,
      );
    if (attribute.kind === 'other' && isUntyped(attribute.bytes))
      report('attribute', `${describe(graph, node)}: attribute "${name}" has no value`);
  }
}

/** Whether an attribute that is kept as bytes has no value of a known type. */
function isUntyped(bytes: Uint8Array): boolean {
  const { sparseTensor, sparseTensors, tp, typeProtos } = decodeMessage(WHOLE_SCHEMA, 'AttributeProto', bytes);
  return sparseTensor === undefined && sparseTensors === undefined && tp === undefined && typeProtos === undefined;
}
