/** The pass that replaces a Loop with a constant iteration count by copies of its body. */
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { ints } from '../ir/attribute.js';
import { addInitializer, addNode, subgraphsOf } from '../ir/edit.js';
import { type Inlining, inlineSubgraph, replaceByIdentities, sortValues } from '../ir/inline.js';
import type { Constant, Graph, Node, ValueId } from '../ir/model.js';
import { makeNameScope, makeNodeNameScope } from '../ir/name-scope.js';
import { isDeterministic } from '../ir/operator-traits.js';
import { type Scope, scopesOf } from '../ir/scope.js';
import { findConstantIn } from '../rewrite/graph-view.js';
import { findConstantOf } from '../shape-inference/context/constant-node.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { joinOutcomes, type Pass, type PassOutcome } from './pass.js';

/** Maximum number of nodes that replace one Loop. */
const MAX_NODES = 2000;
/** Maximum number of nodes of a graph after unrolling: nested loops multiply. */
const MAX_NODES_IN_GRAPH = 20_000;
/** From this opset on, Unsqueeze takes its axes as an input. */
const AXES_INPUT = 13;

/** Exact: the same nodes run in the same order on the same values. Scan outputs are stacked along a new first axis, as Loop stacks them. */
export const unrollLoops: Pass = {
  name: 'unroll-loops',
  proof: 'exact',
  proofText: 'A Loop with a constant count and a condition that stays true runs its body that many times.',
  async run(model) {
    const outcomes: PassOutcome[] = [];
    for (const scope of scopesOf(model)) outcomes.push(unrollIn(scope));
    return joinOutcomes(outcomes);
  },
};

function unrollIn(scope: Scope): PassOutcome {
  const { model, graph } = scope;
  const changed: string[] = [];
  const declined: { node: string; reason: string }[] = [];
  for (const node of [...graph.nodes.values()]) {
    if (node.domain !== '' || node.opType !== 'Loop') continue;
    const plan = planUnrolling(scope, node);
    if (typeof plan === 'string') {
      declined.push({ node: describeNode(node, graph), reason: plan });
      continue;
    }
    changed.push(node.name === '' ? node.opType : node.name);
    const into: Inlining = { model, graph, names: makeNameScope(model.graph), nodeNames: makeNodeNameScope(graph), before: node.id };
    replaceByIdentities(into, node, unroll(into, node, plan));
  }
  if (changed.length > 0) sortValues(graph);
  return { changed, declined };
}

interface Unrolling {
  readonly body: Graph;
  readonly count: number;
}

function planUnrolling(scope: Scope, node: Node): Unrolling | string {
  const attribute = node.attributes.get('body');
  if (attribute?.kind !== 'graph') return 'it has no body';
  const body = attribute.value;
  const count = findCount(findConstantIn(scope, node.inputs[0]));
  if (count === undefined) return 'its count is not constant';
  const [, condition] = node.inputs;
  if (!isPure(body)) return 'its body has random or unknown operators';
  if (condition !== undefined && !isTrue(findConstantIn(scope, condition))) return 'its condition is not always true';
  if (count === 0) return 'its count is 0, so its outputs have no elements';
  // Required even without a condition input: the specification then ignores the condition of the body, but ONNX Runtime ends the loop by it.
  if (!staysTrue(scope, body)) return 'its body may end the loop early';
  const size = countNodes(body);
  if (count * size > MAX_NODES) return `${count} times ${size} nodes are more than ${MAX_NODES}`;
  if (scope.graph.nodes.size + count * size > MAX_NODES_IN_GRAPH) return `its graph would have more than ${MAX_NODES_IN_GRAPH} nodes`;
  const carried = node.inputs.length - 2;
  if (body.inputs.length !== carried + 2 || node.inputs.slice(2).includes(undefined)) return 'its inputs do not match its body';
  return { body, count };
}

function isPure(body: Graph): boolean {
  for (const node of body.nodes.values()) {
    if (!isDeterministic(node)) return false;
    for (const inner of subgraphsOf(node)) if (!isPure(inner)) return false;
  }
  return true;
}

/** Number of nodes, including those of subgraphs. */
function countNodes(graph: Graph): number {
  let count = 0;
  for (const node of graph.nodes.values()) {
    count++;
    for (const inner of subgraphsOf(node)) count += countNodes(inner);
  }
  return count;
}

function findCount(constant: Constant | undefined): number | undefined {
  if (constant?.dtype !== 'int64') return undefined;
  const [count] = decodeRawTensor({ ...constant, dtype: 'int64' }).data;
  return count === undefined || count < 0n || count > BigInt(MAX_NODES) ? undefined : Number(count);
}

function isTrue(constant: Constant | undefined): boolean {
  return constant?.dtype === 'bool' && decodeRawTensor({ ...constant, dtype: 'bool' }).data[0] !== 0;
}

/** Whether the body returns its condition input or a constant true as its condition. */
function staysTrue(scope: Scope, body: Graph): boolean {
  let condition = body.outputs[0];
  for (;;) {
    if (condition === undefined) return false;
    if (condition === body.inputs[1]) return true;
    const value = body.values.get(condition);
    if (value === undefined) return isTrue(findConstantIn(scope, condition));
    if (value.constant !== undefined) return isTrue(value.constant);
    const producer = value.producer === undefined ? undefined : body.nodes.get(value.producer);
    if (producer === undefined) return false;
    if (isTrue(findConstantOf(producer))) return true;
    if (producer.domain !== '' || producer.opType !== 'Identity') return false;
    condition = producer.inputs[0];
  }
}

/** The values that replace the outputs of the Loop. */
function unroll(into: Inlining, node: Node, { body, count }: Unrolling): readonly ValueId[] {
  const { model, graph } = into;
  const scalar = (name: string, constant: Constant): ValueId => addInitializer(model, graph, into.names.take(name), constant).id;
  const label = node.name === '' ? 'loop' : node.name;
  const condition = scalar(`${label}_condition`, encodeRawTensor(makeTensor('bool', [], Uint8Array.of(1))));
  const carriedCount = body.inputs.length - 2;
  let carried = node.inputs.slice(2).filter(input => input !== undefined);
  const scanned: ValueId[][] = Array.from({ length: body.outputs.length - 1 - carriedCount }, () => []);
  for (let index = 0; index < count; index++) {
    const counter = scalar(`${label}_iteration`, encodeRawTensor(makeTensor('int64', [], BigInt64Array.of(BigInt(index)))));
    const outputs = inlineSubgraph(into, body, [counter, condition, ...carried]);
    carried = outputs.slice(1, 1 + carriedCount);
    for (const [scan, output] of outputs.slice(1 + carriedCount).entries()) scanned[scan]?.push(output);
  }
  return [...carried, ...scanned.map(values => stack(into, label, values))];
}

function stack({ model, graph, names, before }: Inlining, label: string, values: readonly ValueId[]): ValueId {
  const withInput = (model.opsets.get('') ?? 1) >= AXES_INPUT;
  const axes = withInput
    ? [addInitializer(model, graph, names.take(`${label}_axes`), encodeRawTensor(makeTensor('int64', [1], BigInt64Array.of(0n)))).id]
    : [];
  const rows = values.map(value => {
    const spec = { opType: 'Unsqueeze', inputs: [value, ...axes], outputs: [names.take(`${label}_row`)], before };
    return addNode(model, graph, withInput ? spec : { ...spec, attributes: { axes: ints([0]) } }).outputs[0];
  });
  const joined = addNode(model, graph, {
    opType: 'Concat',
    inputs: rows,
    attributes: { axis: { kind: 'int', value: 0n } },
    outputs: [names.take(`${label}_rows`)],
    before,
  });
  return joined.outputs[0] as ValueId;
}
