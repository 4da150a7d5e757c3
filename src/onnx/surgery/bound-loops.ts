/** Limits of loop iterations, for runs that compare two models: a count of 2⁶² would never end. */
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { int } from '../ir/attribute.js';
import { addInitializer, addNode, setInput } from '../ir/edit.js';
import type { Constant, Model, Node, NodeId, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { type Scope, scopesOf } from '../ir/scope.js';
import { findConstantIn } from '../rewrite/graph-view.js';

/** A loop that may run longer than this has its count limited. */
const LONGEST = 2 ** 16;
/** Iterations of a loop whose constant count is larger: no computation in use needs them. */
const INSTEAD = 1024;
/** From this opset on, Min takes integers; from 8 on, it broadcasts floats. */
const INTEGER_MIN = 12;
const BROADCAST_MIN = 8;

export function hasLoops(model: Model): boolean {
  for (const { graph } of scopesOf(model)) for (const node of graph.nodes.values()) if (isLoop(node)) return true;
  return false;
}

const isLoop = ({ domain, opType }: Node): boolean => domain === '' && opType === 'Loop';

/**
 * Limits the iterations of every Loop that may run longer than 65,536 times: those with a larger count, a computed count, or none.
 * Changes `model`. @returns the number of loops that were limited; 0 if the model is as before.
 */
export function boundLoops(model: Model): number {
  let bounded = 0;
  const names = makeNameScope(model.graph);
  for (const scope of [...scopesOf(model)])
    for (const node of [...scope.graph.nodes.values()]) if (isLoop(node) && boundLoop(scope, node, wanted => names.take(wanted))) bounded++;
  return bounded;
}

function boundLoop(scope: Scope, node: Node, take: (wanted: string) => string): boolean {
  const { model, graph } = scope;
  const addCount = (count: number, dims: readonly number[]): ValueId =>
    addInitializer(model, graph, take('loop_limit'), countOf(count, dims)).id;
  const [count] = node.inputs;
  if (count === undefined) {
    setInput(node, 0, addCount(LONGEST, []));
    return true;
  }
  const constant = findConstantIn(scope, count);
  if (constant !== undefined) {
    if (!isLong(constant)) return false;
    setInput(node, 0, addCount(INSTEAD, constant.dims));
    return true;
  }
  const opset = model.opsets.get('') ?? 0;
  if (opset < BROADCAST_MIN) return false;
  setInput(node, 0, addMinimum(scope, { count, limit: addCount(LONGEST, []), before: node.id, opset, take }));
  return true;
}

interface Minimum {
  readonly count: ValueId;
  readonly limit: ValueId;
  readonly before: NodeId;
  readonly opset: number;
  readonly take: (wanted: string) => string;
}

function addMinimum({ model, graph }: Scope, { count, limit, before, opset, take }: Minimum): ValueId | undefined {
  const add = (opType: string, inputs: readonly (ValueId | undefined)[], to?: number): ValueId | undefined =>
    addNode(model, graph, {
      opType,
      inputs,
      outputs: [take('loop_count')],
      before,
      ...(to === undefined ? {} : { attributes: { to: int(to) } }),
    }).outputs[0];
  if (opset >= INTEGER_MIN) return add('Min', [count, limit]);
  return add('Cast', [add('Min', [add('Cast', [count], DOUBLE), add('Cast', [limit], DOUBLE)])], INT64);
}

/** Values of TensorProto.DataType. */
const INT64 = 7;
const DOUBLE = 11;

function isLong(constant: Constant): boolean {
  if (constant.dtype !== 'int64') return false;
  const [count = 0n] = decodeRawTensor({ ...constant, dtype: 'int64' }).data;
  return count > BigInt(LONGEST);
}

function countOf(count: number, dims: readonly number[]): Constant {
  return encodeRawTensor(makeTensor('int64', dims, BigInt64Array.of(BigInt(count))));
}
