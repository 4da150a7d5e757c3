/** The plain executor: runs a QDQ model node by node in the integer arithmetic of a rounding mode. It defines what `runner: simulate` computes. */

import { getDefined } from '../../../base/invariant.js';
import { getInt } from '../../../onnx/ir/attribute.js';
import type { Constant, Graph, Model, Node, NodeId, Value, ValueId } from '../../../onnx/ir/model.js';
import { sortTopologically } from '../../../onnx/ir/sort.js';
import type { NamedTensors } from '../../../runtime/session/model-inputs.js';
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import { makeQuantizedArray } from '../../integers/quantize-linear.js';
import { QUANTIZED_DTYPES, type QuantizedDType, storageRange } from '../../integers/quantized-dtype.js';
import { type ExactValues, findExactValues } from '../steps/exact-values.js';
import { isShiftMode, type RoundingMode, roundExact } from '../steps/rounding-mode.js';
import { runExact } from './exact-nodes.js';
import { openFloatNodes } from './float-nodes.js';
import { type Activation, floatsOf, type Held, type HeldIntegers, type HeldResult, realsOf, type Target } from './held.js';
import { runInteger } from './integer-nodes.js';
import { ORT_KERNELS, TFLITE_KERNELS } from './results.js';
import { type SumConv, sumConv } from './window-sums.js';

/** Called with every value of a node, in order. */
export type OnValue = (value: Value, tensor: Tensor) => void | Promise<void>;

export interface PlainExecutor {
  /** All outputs by name. @throws RuntimeError of nodes in float; QuantError `simulate-subgraph`. */
  run(feeds: NamedTensors, onValue?: OnValue): Promise<NamedTensors>;
  close(): Promise<void>;
}

/** Opens a checked model; it is sorted. @param sum the kernel of convolutions. */
export function openPlainExecutor(model: Model, mode: RoundingMode, sum: SumConv = sumConv): PlainExecutor {
  sortTopologically(model.graph);
  const exact = isShiftMode(mode) ? findExactValues(model.graph) : { steps: new Map(), values: new Map() };
  const floats = openFloatNodes(model);
  const kernels = mode === 'tflite' ? TFLITE_KERNELS : ORT_KERNELS;
  const lastReaders = findLastReaders(model.graph);
  return {
    async run(feeds, onValue) {
      const run: Run = { graph: model.graph, mode, exact, floats, kernels, sum, held: new Map() };
      for (const id of model.graph.inputs) {
        const name = model.graph.values.get(id)?.name ?? '';
        const tensor = feeds[name];
        if (tensor !== undefined) run.held.set(id, { kind: 'tensor', tensor });
      }
      for (const node of model.graph.nodes.values()) {
        await runNode(run, node);
        for (const id of node.outputs) {
          const [value, held] = id === undefined ? [] : [model.graph.values.get(id), run.held.get(id)];
          if (onValue !== undefined && value !== undefined && held !== undefined) await onValue(value, await toTensor(held));
        }
        for (const id of lastReaders.get(node.id) ?? []) run.held.delete(id);
      }
      const outputs: Record<string, Tensor> = {};
      for (const id of model.graph.outputs) {
        const { name } = getDefined(model.graph.values.get(id), 'output');
        outputs[name] = await toTensor(getHeld(run, id));
      }
      return outputs;
    },
    close: floats.close,
  };
}

interface Run {
  readonly graph: Graph;
  readonly mode: RoundingMode;
  readonly exact: ExactValues;
  readonly floats: ReturnType<typeof openFloatNodes>;
  readonly kernels: typeof ORT_KERNELS;
  readonly sum: SumConv;
  readonly held: Map<ValueId, Held>;
}

/** Values that no later node reads, by their last reader; outputs of the graph are never among them. */
function findLastReaders(graph: Graph): ReadonlyMap<NodeId, readonly ValueId[]> {
  const last = new Map<ValueId, NodeId>();
  for (const node of graph.nodes.values()) for (const id of node.inputs) if (id !== undefined) last.set(id, node.id);
  for (const id of graph.outputs) last.delete(id);
  const by = new Map<NodeId, ValueId[]>();
  for (const [value, node] of last) by.set(node, [...(by.get(node) ?? []), value]);
  return by;
}

function getHeld({ graph, held }: Run, id: ValueId): Held {
  const own = held.get(id);
  if (own !== undefined) return own;
  return { kind: 'tensor', tensor: decode(getDefined(graph.values.get(id)?.constant, `value ${graph.values.get(id)?.name ?? id}`)) };
}

function decode(constant: Constant): Tensor {
  return constant.dtype === 'string' ? constant : decodeRawTensor(constant);
}

async function runNode(run: Run, node: Node): Promise<void> {
  const [output] = node.outputs;
  if (node.opType === 'DequantizeLinear' && output !== undefined) {
    const integers = dequantize(run, node);
    if (integers !== undefined) return void run.held.set(output, integers);
  }
  if (node.opType === 'QuantizeLinear' && output !== undefined) {
    const quantized = await quantize(run, node);
    if (quantized !== undefined) return void run.held.set(output, { kind: 'tensor', tensor: quantized });
  }
  const found = isShiftMode(run.mode) ? await runExactNode(run, node) : runIntegerNode(run, node);
  if (found !== undefined && output !== undefined) return void run.held.set(output, found);
  const isMove = run.exact.steps.get(node.id)?.kind === 'move';
  const results = await runInFloat(run, node);
  for (const [index, id] of node.outputs.entries()) {
    const tensor = results[index];
    if (id === undefined || tensor === undefined) continue;
    run.held.set(id, isMove ? exactOf(tensor) : { kind: 'tensor', tensor });
  }
}

function exactOf(tensor: Tensor): Held {
  return tensor.dtype === 'float32'
    ? { kind: 'exact', dims: tensor.dims, reals: Float64Array.from(tensor.data) }
    : { kind: 'tensor', tensor };
}

async function runInFloat(run: Run, node: Node): Promise<readonly (Tensor | undefined)[]> {
  const inputs: (Tensor | undefined)[] = [];
  for (const id of node.inputs) {
    const isConstant = id !== undefined && !run.held.has(id) && run.graph.values.get(id)?.constant !== undefined;
    inputs.push(id === undefined || isConstant ? undefined : await toTensor(getHeld(run, id)));
  }
  return run.floats.run(node, inputs);
}

async function runExactNode(run: Run, node: Node): Promise<Held | undefined> {
  const step = run.exact.steps.get(node.id);
  if (step === undefined || step.kind === 'move') return undefined;
  const inputs = node.inputs.map(id => (id !== undefined && run.exact.values.has(id) ? getReals(run, id) : undefined));
  if (step.kind === 'included') {
    const own = inputs.find(one => one !== undefined);
    return own === undefined ? undefined : { kind: 'exact', dims: own.dims, reals: own.data };
  }
  const result = runExact(step, node, inputs);
  return result === undefined ? undefined : { kind: 'exact', dims: result.dims, reals: result.data };
}

function getReals(run: Run, id: ValueId): { dims: readonly number[]; data: Float64Array } | undefined {
  const held = getHeld(run, id);
  if (held.kind === 'exact') return { dims: held.dims, data: held.reals };
  return held.kind === 'integers' ? { dims: held.dims, data: realsOf(held) } : undefined;
}

function runIntegerNode(run: Run, node: Node): Held | undefined {
  const inputs = node.inputs.map(id => (id === undefined ? undefined : run.held.get(id)));
  const [first] = inputs;
  if (first?.kind === 'result') {
    const activation = findActivation(run, node);
    return activation === undefined ? undefined : { ...first, activations: [...first.activations, activation] };
  }
  const result = runInteger(
    run.kernels,
    node,
    inputs.map(held => (held?.kind === 'integers' ? held : undefined)),
    run.sum,
  );
  if (result === undefined) return undefined;
  const floats = async (): Promise<Tensor> => getDefined((await runInFloat({ ...run, held: kept }, node))[0], 'output');
  // Operands stay available: the result may have to be computed in float later.
  const kept = new Map(
    node.inputs.flatMap((id, index) => (id === undefined || inputs[index] === undefined ? [] : [[id, inputs[index] as Held]])),
  );
  return { kind: 'result', ...result, activations: [], floats };
}

function findActivation({ graph }: Run, { opType, domain, inputs }: Node): Activation | undefined {
  if (domain !== '') return undefined;
  if (opType === 'Relu') return { low: 0, high: Number.POSITIVE_INFINITY };
  if (opType !== 'Clip') return undefined;
  const [low, high] = [1, 2].map(index => {
    const id = inputs[index];
    const constant = id === undefined ? undefined : graph.values.get(id)?.constant;
    if (id !== undefined && constant === undefined) return Number.NaN;
    return constant === undefined ? undefined : Number((decode(constant).data as ArrayLike<number>)[0]);
  });
  if (Number.isNaN(low) || Number.isNaN(high)) return undefined;
  return { low: low ?? Number.NEGATIVE_INFINITY, high: high ?? Number.POSITIVE_INFINITY };
}

async function toTensor(held: Held): Promise<Tensor> {
  switch (held.kind) {
    case 'tensor':
      return held.tensor;
    case 'integers':
      return floatsOf(held);
    case 'exact':
      return makeTensor('float32', held.dims, Float32Array.from(held.reals));
    case 'result':
      return resultFloats(held);
  }
}

async function resultFloats({ floats, activations }: HeldResult): Promise<Tensor> {
  const tensor = await floats();
  if (tensor.dtype !== 'float32' || activations.length === 0) return tensor;
  const clamp = (x: number): number => activations.reduce((value, { low, high }) => Math.min(Math.max(value, low), high), x);
  return makeTensor('float32', tensor.dims, tensor.data.map(clamp));
}

const isQuantized = (dtype: string | undefined): dtype is QuantizedDType => QUANTIZED_DTYPES.some(one => one === dtype);

/** Scales, zero points and axis of a Q or DQ node whose parameters are constant; undefined with blocks. */
function readParams({ graph }: Run, node: Node): Pick<HeldIntegers, 'axis' | 'slices'> | undefined {
  const [, scale, zero] = node.inputs.map(id => (id === undefined ? undefined : graph.values.get(id)?.constant));
  if (scale?.dtype !== 'float32' || getInt(node, 'block_size', 0) !== 0) return undefined;
  if (node.inputs[2] !== undefined && zero === undefined) return undefined;
  const scales = [...(decodeRawTensor(scale).data as Float32Array)];
  const zeros = zero === undefined || zero.dtype === 'string' ? [] : Array.from(decodeRawTensor(zero).data as ArrayLike<number>, Number);
  return { axis: getInt(node, 'axis', 1), slices: scales.map((one, index) => ({ scale: one, zeroPoint: zeros[index] ?? 0 })) };
}

/** Undefined for other dtypes than integers of 8, 16 and 32 bits. */
function dequantize(run: Run, node: Node): HeldIntegers | undefined {
  const [x] = node.inputs;
  const params = readParams(run, node);
  if (x === undefined || params === undefined) return undefined;
  const held = getHeld(run, x);
  if (held.kind !== 'tensor') return undefined;
  const { tensor } = held;
  if (tensor.dtype !== 'int32' && !isQuantized(tensor.dtype)) return undefined;
  const integers = Int32Array.from(tensor.data as ArrayLike<number>);
  const axis = params.axis < 0 ? params.axis + tensor.dims.length : params.axis;
  return { kind: 'integers', dims: tensor.dims, dtype: tensor.dtype, integers, axis, slices: params.slices };
}

/** The rounded integers; undefined if the value is float, which ONNX Runtime quantizes. */
async function quantize(run: Run, node: Node): Promise<Tensor | undefined> {
  const [x, , zero] = node.inputs;
  const params = readParams(run, node);
  const [slice, ...others] = params?.slices ?? [];
  const dtype = zero === undefined ? 'uint8' : run.graph.values.get(zero)?.constant?.dtype;
  if (x === undefined || slice === undefined || others.length > 0 || !isQuantized(dtype)) return undefined;
  const held = getHeld(run, x);
  const target: Target = { ...slice, dtype, ...storageRange(dtype) };
  const integers = round(run, x, target);
  if (integers === undefined || held.kind === 'tensor') return undefined;
  const data = makeQuantizedArray(dtype, integers.length);
  data.set(integers);
  return makeTensor(dtype, held.dims, data as never);
}

function round(run: Run, id: ValueId, target: Target): ArrayLike<number> | undefined {
  const { mode, kernels } = run;
  const held = getHeld(run, id);
  if (held.kind === 'result') return held.round(target, held.activations);
  if (!isShiftMode(mode)) return held.kind === 'integers' ? kernels.requantize(held)?.(target, []) : undefined;
  return run.exact.values.has(id)
    ? getReals(run, id)?.data.map(x => Math.min(Math.max(roundExact(x / target.scale, mode) + target.zeroPoint, target.low), target.high))
    : undefined;
}
