/** Do the parts of a model hold together: names, order, producers, constants? Operators' own rules are not looked at here. */
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

/** Reports what is wrong with the graph of `model`, sub-graphs included. */
export function checkStructure(model: Model, report: Report): void {
  const whole: Whole = { opsets: model.opsets, attributes: undefined };
  checkGraph(whole, model.graph, { ...NOTHING, isWhole: true }, report);
}

/** The same of a function's body, whose inputs have no types. */
export function checkFunctionStructure({ opsets, attributes, body }: ModelFunction, report: Report): void {
  checkGraph({ opsets, attributes }, body, { ...NOTHING, isWhole: false }, report);
}

/** What holds for a graph and all inside it. `attributes`: those of the function whose body it is. */
interface Whole {
  readonly opsets: ReadonlyMap<string, number>;
  readonly attributes: ReadonlySet<string> | undefined;
}

/** What a graph sees of those around it: their names, and the values that are computed before it. */
interface Around {
  readonly hasName: (name: string) => boolean;
  readonly isMade: (id: ValueId) => boolean;
  readonly isWhole: boolean;
}

const NOTHING: Pick<Around, 'hasName' | 'isMade'> = { hasName: () => false, isMade: () => false };

/** @returns whether every value that the graph and those inside it read is made before. */
function checkGraph(whole: Whole, graph: Graph, around: Around, report: Report): 'complete' | 'incomplete' {
  const label = `graph "${graph.name}"`;
  const names = checkNames(graph, label, around, report);
  for (const value of graph.values.values()) if (value.constant !== undefined) checkConstant(value, value.constant, label, report);
  checkEnds(graph, label, around, report);
  checkProducers(graph, label, report);
  const made = new Set(sourcesOf(graph, label, report));
  const isMade = (id: ValueId): boolean => made.has(id) || around.isMade(id);
  const inside: Around = { hasName: name => names.has(name) || around.hasName(name), isMade, isWhole: false };
  let order: TopologicalOrder['kind'] | undefined;
  for (const node of graph.nodes.values()) {
    checkNode(whole, graph, node, report);
    for (const id of node.inputs) {
      if (id === undefined || isMade(id)) continue;
      order ??= checkOrder(graph, label, report);
      reportUnmade(graph, node, id, order, report);
    }
    for (const sub of subgraphsOf(node)) {
      if (checkGraph(whole, sub, inside, report) === 'incomplete') order ??= checkOrder(graph, label, report);
    }
    for (const id of node.outputs) if (id !== undefined) made.add(id);
  }
  for (const id of graph.outputs) {
    if (isMade(id)) continue;
    report('undefined-value', `${label}: nothing defines its output ${nameOf(graph, id)}`);
    order ??= checkOrder(graph, label, report);
  }
  return order === undefined ? 'complete' : 'incomplete';
}

/** Looked for where something is read before it is made: where nothing is, there is no cycle. */
function checkOrder(graph: Graph, label: string, report: Report): TopologicalOrder['kind'] {
  const order = findTopologicalOrder(graph);
  if (order.kind === 'cycle') report('cycle', `${label} has a cycle: ${describeCycle(graph, order.nodes)}`);
  return order.kind;
}

/** What is there before the first node: inputs, initializers, and the sparse initializers that are kept as bytes. */
function sourcesOf(graph: Graph, label: string, report: Report): ValueId[] {
  const constants = [...graph.values.values()].filter(value => value.constant !== undefined).map(({ id }) => id);
  return [...graph.inputs, ...constants, ...sparseOf(graph, label, report)];
}

function sparseOf(graph: Graph, label: string, report: Report): Iterable<ValueId> {
  try {
    return findSparseInitializers(graph);
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    report('malformed-field', `${label} has a field that cannot be read: ${error.message}`);
    return [];
  }
}

function reportUnmade(graph: Graph, node: Node, id: ValueId, order: 'order' | 'cycle', report: Report): void {
  const producer = graph.values.get(id)?.producer;
  if (producer === undefined || !graph.nodes.has(producer)) {
    report('undefined-value', `${describe(graph, node)} reads ${nameOf(graph, id)}, which nothing defines before it`);
  } else if (order === 'order') {
    report('node-order', `${describe(graph, node)} reads ${nameOf(graph, id)}, which a later node makes`);
  }
}

function checkNames(graph: Graph, label: string, { hasName }: Around, report: Report): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of graph.values.values()) {
    if (name === '') report('empty-name', `${label} has a value without a name`);
    else if (names.has(name)) report('duplicate-name', `${label} has two values "${name}"`);
    else if (hasName(name)) report('duplicate-name', `${label} has a value "${name}", as a graph around it has`);
    names.add(name);
  }
  return names;
}

function checkConstant(value: Value, constant: Constant, label: string, report: Report): void {
  const count = countElements(constant.dims);
  const described = (): string => `${label}: initializer "${value.name}" (${constant.dtype} ${formatShape(constant.dims)})`;
  if ('data' in constant) {
    if (constant.data.length !== count) report('constant-size', `${described()} needs ${count} strings, it has ${constant.data.length}`);
  } else if (byteLengthOf(constant) !== byteLength(constant.dtype, count)) {
    report('constant-size', `${described()} needs ${byteLength(constant.dtype, count)} bytes, it has ${byteLengthOf(constant)}`);
  }
  const { type } = value;
  if (type === undefined) return;
  if (type.kind !== 'tensor' || (type.dtype !== undefined && type.dtype !== constant.dtype)) {
    report('constant-type', `${described()} is declared as ${type.kind === 'tensor' ? type.dtype : 'no tensor'}`);
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

function checkEnds(graph: Graph, label: string, around: Around, report: Report): void {
  if (graph.outputs.length === 0) report('no-outputs', `${label} has no outputs`);
  for (const [side, ids] of [
    ['input', graph.inputs],
    ['output', graph.outputs],
  ] as const) {
    for (const [index, id] of ids.entries())
      if (ids.indexOf(id) !== index) report('repeated-end', `${label} lists its ${side} ${nameOf(graph, id)} twice`);
  }
  if (!around.isWhole) return;
  for (const id of graph.inputs)
    if (graph.values.get(id)?.type === undefined) report('untyped-input', `${label}: input ${nameOf(graph, id)} has no type`);
}

function checkProducers(graph: Graph, label: string, report: Report): void {
  const makers = new Map<ValueId, Node>();
  const inputs = new Set(graph.inputs);
  for (const node of graph.nodes.values()) {
    for (const id of node.outputs) {
      if (id === undefined) continue;
      const other = makers.get(id);
      if (other !== undefined)
        report('producer', `${label}: ${nameOf(graph, id)} is made by ${describe(graph, other)} and by ${describe(graph, node)}`);
      if (!graph.values.has(id)) report('producer', `${describe(graph, node)} makes a value that the graph does not have`);
      makers.set(id, node);
    }
  }
  for (const value of graph.values.values()) {
    const maker = makers.get(value.id);
    if (maker?.id !== value.producer) report('producer', `${label}: "${value.name}" names another producer than the node that makes it`);
    if (maker !== undefined && (value.constant !== undefined || inputs.has(value.id))) {
      report('producer', `${label}: "${value.name}" is made by ${describe(graph, maker)} and is an input or initializer too`);
    }
  }
}

function checkNode(whole: Whole, graph: Graph, node: Node, report: Report): void {
  if (node.opType === '') report('no-operator', `${describe(graph, node)} has no operator`);
  if (!whole.opsets.has(node.domain)) {
    report('opset-missing', `${describe(graph, node)} is of domain "${node.domain}", whose operator set the model does not import`);
  }
  for (const [name, attribute] of node.attributes) {
    if (attribute.kind === 'ref' && whole.attributes === undefined)
      report('attribute', `${describe(graph, node)}: attribute "${name}" refers to a function's attribute outside of a function`);
    if (attribute.kind === 'ref' && whole.attributes?.has(attribute.refName) === false)
      report(
        'attribute',
        `${describe(graph, node)}: attribute "${name}" refers to "${attribute.refName}", which the function does not have`,
      );
    if (attribute.kind === 'other' && isUntyped(attribute.bytes))
      report('attribute', `${describe(graph, node)}: attribute "${name}" has no value`);
  }
}

/** Whether an attribute that is kept as bytes states none of the types that attributes have. */
function isUntyped(bytes: Uint8Array): boolean {
  const { sparseTensor, sparseTensors, tp, typeProtos } = decodeMessage(WHOLE_SCHEMA, 'AttributeProto', bytes);
  return sparseTensor === undefined && sparseTensors === undefined && tp === undefined && typeProtos === undefined;
}
