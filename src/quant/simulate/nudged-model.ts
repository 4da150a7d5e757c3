/**
 * Makes a model whose float32 arithmetic in ONNX Runtime has the results of a device that rounds exact sums in another way.
 * QuantizeLinear rounds halves to even. Half a unit added before it moves a half to the side to which the device rounds, and no other number across one.
 */
import { getDefined } from '../../base/invariant.js';
import { int } from '../../onnx/ir/attribute.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { getValue, setInput } from '../../onnx/ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { findPosition } from '../integers/power-of-two.js';
import { QUANTIZED_DTYPES, storageRange } from '../integers/quantized-dtype.js';
import { findDequantized } from '../qdq/dequantized.js';
import { replaceStep, type Units, unitOf } from './replaced-steps.js';
import { findExactValues } from './steps/exact-values.js';
import { ModelEditor } from './steps/model-editor.js';
import type { ShiftMode } from './steps/rounding-mode.js';

/** A float32 sum with a fraction of ½ is exact below this number of units. */
const HALF_EXACT_BELOW = 2 ** 23;

/** `reason`: why float32 cannot give the results of this model. */
export type Nudged = { readonly kind: 'model'; readonly model: Model } | { readonly kind: 'declined'; readonly reason: string };

/** One rounding of the model, and the outputs that count the elements it has, and those that rounding to even would make different. */
export interface CountedRounding {
  /** The rounded value. */
  readonly value: string;
  readonly opType: string;
  /** The scale of the rounded value is 2^shift times the unit of the exact one. */
  readonly shift: number;
  readonly elements: string;
  readonly changed: string;
}

interface Nudging {
  readonly editor: ModelEditor;
  readonly graph: Graph;
  readonly units: Units;
  readonly mode: ShiftMode;
  /** Filled with the roundings that can differ, if they are to be counted. */
  readonly counted: CountedRounding[] | undefined;
}

/** The argument is not changed. */
export function nudgeModel(given: Model, mode: ShiftMode): Nudged {
  return nudgeAll(given, mode, undefined);
}

/** The same model with two more outputs per rounding. */
export function nudgeAndCount(given: Model, mode: ShiftMode): { readonly nudged: Nudged; readonly counted: readonly CountedRounding[] } {
  const counted: CountedRounding[] = [];
  return { nudged: nudgeAll(given, mode, counted), counted };
}

function nudgeAll(given: Model, mode: ShiftMode, counted: CountedRounding[] | undefined): Nudged {
  const model = cloneModel(given);
  const { graph } = model;
  sortTopologically(graph);
  const editor = new ModelEditor(model);
  const units: Units = { exact: findExactValues(graph), renamed: new Map() };
  for (const node of [...graph.nodes.values()]) {
    const step = units.exact.steps.get(node.id);
    const reason = step === undefined ? undefined : replaceStep(editor, units, node, step);
    if (reason !== undefined) return { kind: 'declined', reason: `${node.opType} "${node.name}": ${reason}` };
  }
  editor.readAgain();
  for (const node of [...graph.nodes.values()]) {
    const reason = node.opType === 'QuantizeLinear' ? nudge({ editor, graph, units, mode, counted }, node) : undefined;
    if (reason !== undefined) return { kind: 'declined', reason: `QuantizeLinear "${node.name}": ${reason}` };
  }
  sortTopologically(graph);
  return { kind: 'model', model };
}

function nudge(nudging: Nudging, node: Node): string | undefined {
  const { editor, units, mode } = nudging;
  const [x, scaleId, zeroId] = node.inputs;
  const [unit, scale] = [unitOf(units, x), editor.numberOf(scaleId)];
  if (x === undefined || unit === undefined || scale === undefined || findPosition(scale) === undefined) return undefined;
  const producer = editor.producerOf(x);
  const step = producer === undefined ? undefined : units.exact.steps.get(producer.id);
  if (step?.kind === 'leaky' && producer !== undefined) {
    roundInDouble(nudging, node, producer, { slope: step.slope, scale });
    return undefined;
  }
  if (mode === 'pow2-py3' || unit >= scale) return undefined;
  if (nudging.counted === undefined && foldIntoBias(nudging, x, unit)) return undefined;
  if (HALF_EXACT_BELOW * unit < saturatesFrom(nudging, zeroId) * scale) return `its shift is too wide: scale ${scale} of units of ${unit}`;
  const half = editor.float(unit / 2);
  setInput(node, 0, editor.add('Add', [x, mode === 'pow2-std' ? editor.add('Mul', [editor.add('Sign', [x]), half]) : half]));
  nudging.counted?.push(countChanges(nudging, node, x, Math.log2(scale / unit)));
  return undefined;
}

/** Adds outputs that compare the rounded value with one rounded to even. Both are integers that differ by at most 1. */
function countChanges({ editor, graph }: Nudging, node: Node, x: ValueId, shift: number): CountedRounding {
  const [own] = node.outputs;
  const even = editor.add('QuantizeLinear', [x, ...node.inputs.slice(1).filter(id => id !== undefined)]);
  const rounded = getDefined(own, 'the output of QuantizeLinear');
  const wide = (id: ValueId): ValueId => editor.add('Cast', [id], { to: INT32 });
  const difference = editor.add('Abs', [editor.add('Sub', [wide(rounded), wide(even)])]);
  const outputs = [editor.add('Size', [rounded]), editor.add('ReduceSum', [difference], { keepdims: int(0) })];
  graph.outputs.push(...outputs);
  const [elements = '', changed = ''] = outputs.map(id => getValue(graph, id).name);
  return { value: getValue(graph, rounded).name, opType: editor.producerOf(x)?.opType ?? '', shift, elements, changed };
}

/** Every number of this magnitude or more saturates, however it is rounded. */
function saturatesFrom({ editor, graph }: Nudging, zeroId: ValueId | undefined): number {
  const constant = zeroId === undefined ? undefined : graph.values.get(zeroId)?.constant;
  const { low, high } = storageRange(QUANTIZED_DTYPES.find(one => one === constant?.dtype) ?? 'uint8');
  const zero = editor.numberOf(zeroId) ?? 0;
  return Math.max(zero - low, high + 1 - zero);
}

const LAYERS = new Set(['Conv', 'ConvTranspose', 'Gemm']);

/** Adds half a unit to the bias of the layer that makes `x`, alone or through a Relu. */
function foldIntoBias({ editor, graph, units, mode }: Nudging, x: ValueId, unit: number): boolean {
  const first = editor.producerOf(x);
  const isRelu = first?.opType === 'Relu';
  const output = isRelu ? getDefined(first.inputs[0], 'the input of a Relu') : x;
  const layer = editor.producerOf(output);
  // Away from zero, the side depends on the sign.
  if (mode === 'pow2-std' && !isRelu) return false;
  if (layer === undefined || !LAYERS.has(layer.opType) || !editor.isReadOnce(x) || !editor.isReadOnce(output)) return false;
  const step = units.exact.steps.get(layer.id);
  if (step?.kind !== 'sum' || step.bound.bound === undefined || step.bound.unit === undefined) return false;
  if ((step.bound.bound * step.bound.unit) / unit + 1 >= HALF_EXACT_BELOW) return false;
  const bias = nudgedBias(graph, layer, unit / 2);
  if (bias === undefined) return false;
  layer.inputs[2] = editor.constant(bias);
  return true;
}

function nudgedBias(graph: Graph, layer: Node, half: number): Constant | undefined {
  const [, weight, bias] = layer.inputs;
  if (bias === undefined) {
    const outputs = weight === undefined ? undefined : findDequantized(graph, weight)?.constant?.dims[0];
    if (outputs === undefined || layer.opType !== 'Conv') return undefined;
    return encodeRawTensor(makeTensor('float32', [outputs], new Float32Array(outputs).fill(half)));
  }
  const found = findDequantized(graph, bias);
  const integers = found?.constant;
  if (found === undefined || integers === undefined || integers.dims.length !== 1) return undefined;
  const values = Float32Array.from(decodeRawTensor(integers).data as ArrayLike<number>, (value, channel) => {
    const [scale = 0, zero = 0] = [found.scales[channel % found.scales.length], found.zeroPoints[channel % found.zeroPoints.length]];
    return (value - zero) * scale + half;
  });
  return encodeRawTensor(makeTensor('float32', integers.dims, values));
}

/** Element types of ONNX. */
const [DOUBLE, FLOAT, INT32] = [int(11), int(1), int(6)];

/** Computes the slope of a LeakyRelu and the rounding in float64: the product with n / 256 has more bits than float32. */
function roundInDouble(
  { editor, mode }: Nudging,
  node: Node,
  leaky: Node,
  { slope, scale }: { readonly slope: number; readonly scale: number },
): void {
  const x = editor.add('Cast', [getDefined(leaky.inputs[0], 'the input of a LeakyRelu')], { to: DOUBLE });
  const value = editor.add('Max', [x, editor.add('Mul', [x, editor.double(slope)])]);
  const rounded = roundDouble(editor, mode, editor.add('Mul', [value, editor.double(1 / scale)]));
  setInput(node, 0, editor.add('Cast', [editor.add('Mul', [rounded, editor.double(scale)])], { to: FLOAT }));
}

function roundDouble(editor: ModelEditor, mode: ShiftMode, value: ValueId): ValueId {
  const floorOfHalfMore = (x: ValueId): ValueId => editor.add('Floor', [editor.add('Add', [x, editor.double(0.5)])]);
  if (mode === 'pow2-py3') return editor.add('Round', [value]);
  if (mode === 'pow2-dpu') return floorOfHalfMore(value);
  return editor.add('Mul', [editor.add('Sign', [value]), floorOfHalfMore(editor.add('Abs', [value]))]);
}
