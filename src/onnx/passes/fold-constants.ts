/** The pass that computes nodes with only constant inputs once and replaces them by initializers. */
import { isCodedError } from '../../base/coded-error.js';
import { byteLength } from '../../tensor/dtype.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { addInitializer, addNode, findValueByName, getValue, indexUses, makeModel, removeNode } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, Value, ValueId } from '../ir/model.js';
import { givesNoTensors, hasSubgraph, isDeterministic, isQuantizer } from '../ir/operator-traits.js';
import { findVisibleValue, type Scope, scopesOf } from '../ir/scope.js';
import { findConstantIn } from '../rewrite/graph-view.js';
import { isStatic } from '../shape-inference/context/dims.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import type { KnownTypes } from '../shape-inference/infer-shapes.js';
import { joinOutcomes, type Pass, type PassContext, type PassOutcome } from './pass.js';

/** Operators whose result can be far larger than their inputs: they are folded only if the size of the result is known beforehand. */
const GROWING = new Set(['ConstantOfShape', 'Expand', 'Tile', 'Range', 'Resize', 'Upsample', 'Pad', 'OneHot', 'EyeLike', 'Loop', 'Scan']);

/**
 * Inputs of products that ONNX Runtime rearranges when it loads a model, if they are constants. It then adds in another order than for an operand that
 * nodes compute: a folded weight changes the rounding of the product.
 */
const PACKED: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ...['MatMul', 'Gemm', 'Conv', 'ConvTranspose'].map(operator => [operator, [1]] as const),
  ...['RNN', 'LSTM', 'GRU'].map(operator => [operator, [1, 2]] as const),
]);

/** Exact, but for products with a folded weight: the same kernels compute the constants. Random operators, quantizers and nodes with subgraphs are never folded. An output of a graph may become an initializer. */
export const foldConstants: Pass = {
  name: 'fold-constants',
  proof: 'exact',
  proofText:
    'Nodes whose inputs are all constant are computed once by the same kernels, with graph optimization off. ONNX Runtime adds in another order in a product whose weight becomes constant.',
  async run(model, context) {
    const { types } = context.infer(model);
    const outcomes: PassOutcome[] = [];
    for (const scope of scopesOf(model)) {
      const plan = planFolding(scope, { types, limitBytes: context.foldLimitBytes });
      outcomes.push({ changed: [], declined: plan.declined });
      if (plan.nodes.length > 0) outcomes.push(await foldTogether(scope, plan, context));
    }
    return joinOutcomes(outcomes);
  },
};

interface FoldingPlan {
  readonly nodes: readonly Node[];
  /** The largest result that each node may have, in bytes. */
  readonly limits: ReadonlyMap<Node['id'], number>;
  readonly declined: PassOutcome['declined'];
}

interface Sizes {
  readonly types: KnownTypes;
  readonly limitBytes: number;
}

function planFolding(scope: Scope, sizes: Sizes): FoldingPlan {
  const constant = new Set<ValueId>();
  const nodes: Node[] = [];
  const limits = new Map<Node['id'], number>();
  const declined: { node: string; reason: string }[] = [];
  for (const node of scope.graph.nodes.values()) {
    if (!node.inputs.every(input => input === undefined || constant.has(input) || findConstantIn(scope, input) !== undefined)) continue;
    const limitBytes = Math.max(sizes.limitBytes, sizeOfInputs(scope, node, sizes.types));
    const reason = declineReason(node, { ...sizes, limitBytes });
    if (reason !== undefined) {
      declined.push({ node: describeNode(node, scope.graph), reason });
      continue;
    }
    nodes.push(node);
    limits.set(node.id, limitBytes);
    for (const output of node.outputs) if (output !== undefined) constant.add(output);
  }
  return { nodes, limits, declined };
}

/** Bytes of all inputs: a result that is no larger does not enlarge the model. */
function sizeOfInputs(scope: Scope, node: Node, types: KnownTypes): number {
  const sizes = [...new Set(node.inputs)].map(input => {
    const constant = findConstantIn(scope, input);
    if (constant === undefined) return input === undefined ? 0 : (sizeOf(types, input) ?? 0);
    return constant.dtype === 'string' ? 0 : byteLength(constant.dtype, countElements(constant.dims));
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function declineReason(node: Node, { types, limitBytes }: Sizes): string | undefined {
  if (isQuantizer(node)) return 'quantizers are not folded';
  if (!isDeterministic(node)) return 'its results may differ between runs';
  if (hasSubgraph(node)) return 'it has a subgraph';
  for (const output of node.outputs) {
    if (output === undefined) continue;
    const sizeBytes = sizeOf(types, output);
    if (sizeBytes === undefined && GROWING.has(node.opType)) return 'the size of its result is not known';
    if (sizeBytes !== undefined && sizeBytes > limitBytes) return `its result has ${sizeBytes} bytes, the limit is ${limitBytes}`;
  }
  return undefined;
}

function sizeOf(types: KnownTypes, value: ValueId): number | undefined {
  const type = types.get(value);
  return type?.dtype !== undefined && isStatic(type.dims) ? byteLength(type.dtype, countElements(type.dims)) : undefined;
}

type Foldable = Pick<FoldingPlan, 'nodes' | 'limits'>;

async function foldTogether(scope: Scope, plan: Foldable, context: PassContext): Promise<PassOutcome> {
  try {
    return await fold(scope, plan, context);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const [node] = plan.nodes;
    if (plan.nodes.length === 1 && node !== undefined)
      return { changed: [], declined: [{ node: describeNode(node, scope.graph), reason: error.message }] };
    return foldOneByOne(scope, plan, context);
  }
}

/** After a failed evaluation of all nodes together, evaluates each node alone, so that only the failing one is left. */
async function foldOneByOne(scope: Scope, { nodes, limits }: Foldable, context: PassContext): Promise<PassOutcome> {
  const outcomes: PassOutcome[] = [];
  for (const node of nodes) {
    if (!node.inputs.every(input => input === undefined || findConstantIn(scope, input) !== undefined)) continue;
    outcomes.push(await foldTogether(scope, { nodes: [node], limits }, context));
  }
  return joinOutcomes(outcomes);
}

async function fold(scope: Scope, { nodes, limits }: Foldable, context: PassContext): Promise<PassOutcome> {
  const { graph } = scope;
  const folded = new Set(nodes.map(node => node.id));
  const wanted = outputsReadOutside(graph, nodes, folded);
  if (wanted.length === 0) return { changed: [], declined: [] };
  const results = await context.evaluate(makeConstantModel(scope, nodes, wanted));
  const changed: string[] = [];
  const declined: { node: string; reason: string }[] = [];
  const packed = listPacked(graph);
  let rounds = false;
  const values = wanted.map(value => ({ value, tensor: results[value.name] }));
  for (const { value, tensor } of values) {
    const constant = tensor === undefined ? undefined : toConstant(tensor);
    const producer = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
    if (constant === undefined || producer === undefined) continue;
    const sizeBytes = constant.dtype === 'string' ? 0 : constant.bytes.byteLength;
    const limitBytes = limits.get(producer.id) ?? context.foldLimitBytes;
    if (sizeBytes > limitBytes) {
      declined.push({ node: describeNode(producer, graph), reason: `its result has ${sizeBytes} bytes, the limit is ${limitBytes}` });
      continue;
    }
    producer.outputs = producer.outputs.map(output => (output === value.id ? undefined : output));
    if (producer.outputs.every(output => output === undefined)) removeNode(graph, producer.id);
    value.producer = undefined;
    value.constant = constant;
    value.type = { kind: 'tensor', dtype: constant.dtype, dims: constant.dims };
    changed.push(value.name);
    rounds ||= packed.has(value.id);
  }
  return { changed, declined, ...(rounds ? { proof: 'rounding' } : {}) };
}

/** Operands of products that are packed where they are constants. */
function listPacked(graph: Graph): ReadonlySet<ValueId> {
  const products = [...graph.nodes.values()].filter(node => node.domain === '');
  const weights = products.flatMap(({ opType, inputs }) => (PACKED.get(opType) ?? []).map(index => inputs[index]));
  return new Set(weights.filter(weight => weight !== undefined));
}

function toConstant(tensor: Tensor): Constant {
  return tensor.dtype === 'string' ? tensor : encodeRawTensor(tensor);
}

/**
 * Tensors of `nodes` that other nodes or subgraphs read, or that are outputs of the graph: only these become initializers.
 * No initializer holds a sequence or an optional value, and ONNX Runtime ends the process where it is asked for an empty optional one.
 */
function outputsReadOutside(graph: Graph, nodes: readonly Node[], folded: ReadonlySet<Node['id']>): Value[] {
  const read = new Set<ValueId>(graph.outputs);
  for (const [value, uses] of indexUses(graph)) if (uses.some(use => !folded.has(use.node.id) || use.index < 0)) read.add(value);
  return nodes
    .filter(node => !givesNoTensors(node))
    .flatMap(node => node.outputs.filter(output => output !== undefined && read.has(output)).map(id => getValue(graph, id as ValueId)))
    .filter(value => value.type?.kind !== 'other');
}

/** A model without inputs that computes `wanted` with copies of `nodes`. */
function makeConstantModel(scope: Scope, nodes: readonly Node[], wanted: readonly Value[]): Model {
  const { model, graph } = scope;
  const small = makeModel({ irVersion: Math.max(model.irVersion, 4), opset: model.opsets.get('') ?? 1, graphName: 'constants' });
  for (const [domain, version] of model.opsets) small.opsets.set(domain, version);
  const ids = new Map<ValueId, ValueId>();
  for (const node of nodes) {
    for (const input of node.inputs) {
      const constant = findConstantIn(scope, input);
      if (input === undefined || ids.has(input) || constant === undefined) continue;
      ids.set(input, addInitializer(small, small.graph, findVisibleValue(scope, input)?.name ?? '', constant).id);
    }
    const outputs = node.outputs.map(output => (output === undefined ? undefined : getValue(graph, output).name));
    const made = addNode(small, small.graph, {
      opType: node.opType,
      name: node.name,
      domain: node.domain,
      inputs: node.inputs.map(input => (input === undefined ? undefined : ids.get(input))),
      attributes: node.attributes,
      outputs,
    });
    for (const [index, output] of node.outputs.entries()) {
      const id = made.outputs[index];
      if (output !== undefined && id !== undefined) ids.set(output, id);
    }
  }
  for (const value of wanted) {
    const made = findValueByName(small.graph, value.name);
    if (made === undefined) continue;
    made.type = value.type;
    small.graph.outputs.push(made.id);
  }
  return small;
}
