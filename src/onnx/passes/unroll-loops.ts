/** Which Loop always runs the same few times? Its body comes to stand in its place so many times. */
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { ints } from '../ir/attribute.js';
import { addInitializer, addNode, subgraphsOf } from '../ir/edit.js';
import { type Inlining, inlineSubgraph, sortValues, takeOver } from '../ir/inline.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { findConstantValue } from '../rewrite/graph-view.js';
import { findConstantOf } from '../shape-inference/constant-node.js';
import { describeNode } from '../shape-inference/node-context.js';
import { isDeterministic } from './operator-traits.js';
import type { Pass } from './pass.js';

/** Copies of body nodes that one Loop may become. */
const MOST_NODES = 2000;
/** Unsqueeze takes its axes as an input from opset 13. */
const AXES_INPUT = 13;

/** Exact: the same nodes run in the same order on the same values. Scan outputs are stacked along a new first axis, as Loop stacks them. */
export const unrollLoops: Pass = {
  name: 'unroll-loops',
  proof: 'exact',
  proofText: 'A Loop with a constant count and a condition that stays true runs its body so many times.',
  async run(model) {
    const changed: string[] = [];
    const declined: { node: string; reason: string }[] = [];
    for (const node of [...model.graph.nodes.values()]) {
      if (node.domain !== '' || node.opType !== 'Loop') continue;
      const plan = planUnrolling(model, node);
      if (typeof plan === 'string') {
        declined.push({ node: describeNode(node, model.graph), reason: plan });
        continue;
      }
      changed.push(node.name === '' ? node.opType : node.name);
      const into: Inlining = { model, graph: model.graph, names: makeNameScope(model.graph), before: node.id };
      takeOver(into, node, unroll(into, node, plan));
    }
    if (changed.length > 0) sortValues(model.graph);
    return { changed, declined };
  },
};

interface Unrolling {
  readonly body: Graph;
  readonly count: number;
}

function planUnrolling(model: Model, node: Node): Unrolling | string {
  const attribute = node.attributes.get('body');
  if (attribute?.kind !== 'graph') return 'it has no body';
  const body = attribute.value;
  const count = findCount(findConstantValue(model, node.inputs[0]));
  if (count === undefined) return 'its count is not constant';
  const [, condition] = node.inputs;
  if (!isPure(body)) return 'it draws random numbers, or holds operators that are not known';
  if (condition !== undefined && !isTrue(findConstantValue(model, condition))) return 'its condition is not constantly true';
  if (count === 0) return 'it never runs: its outputs have no elements';
  // Without a condition the body's own is not looked at.
  if (condition !== undefined && !staysTrue(model, body)) return 'its body may end it early';
  if (count * body.nodes.size > MOST_NODES) return `${count} times ${body.nodes.size} nodes are more than ${MOST_NODES}`;
  const carried = node.inputs.length - 2;
  if (body.inputs.length !== carried + 2 || node.inputs.slice(2).includes(undefined)) return 'its inputs do not fit its body';
  return { body, count };
}

function isPure(body: Graph): boolean {
  for (const node of body.nodes.values()) {
    if (!isDeterministic(node)) return false;
    for (const inner of subgraphsOf(node)) if (!isPure(inner)) return false;
  }
  return true;
}

function findCount(constant: Constant | undefined): number | undefined {
  if (constant?.dtype !== 'int64') return undefined;
  const [count] = decodeRawTensor({ ...constant, dtype: 'int64' }).data;
  return count === undefined || count < 0n || count > BigInt(MOST_NODES) ? undefined : Number(count);
}

function isTrue(constant: Constant | undefined): boolean {
  return constant?.dtype === 'bool' && decodeRawTensor({ ...constant, dtype: 'bool' }).data[0] !== 0;
}

/** Does the body hand on its condition, or a constant true? */
function staysTrue(model: Model, body: Graph): boolean {
  let condition = body.outputs[0];
  for (;;) {
    if (condition === undefined) return false;
    if (condition === body.inputs[1]) return true;
    const value = body.values.get(condition);
    if (value === undefined) return isTrue(findConstantValue(model, condition));
    if (value.constant !== undefined) return isTrue(value.constant);
    const producer = value.producer === undefined ? undefined : body.nodes.get(value.producer);
    if (producer === undefined) return false;
    if (isTrue(findConstantOf(producer))) return true;
    if (producer.domain !== '' || producer.opType !== 'Identity') return false;
    condition = producer.inputs[0];
  }
}

/** The values that stand for the Loop's outputs. */
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
