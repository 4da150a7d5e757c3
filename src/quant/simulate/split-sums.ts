/** Layers whose sums can leave float32's exact integers, divided along their input channels into layers whose sums cannot. */
import { getDefined } from '../../base/invariant.js';
import { getInt, int } from '../../onnx/ir/attribute.js';
import { addNode, removeNode } from '../../onnx/ir/edit.js';
import type { Attribute, Node, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements, type Shape } from '../../tensor/shape.js';
import { makeTensor } from '../../tensor/tensor.js';
import { type Dequantized, findDequantized } from '../qdq/dequantized.js';
import type { ModelEditor } from './steps/model-editor.js';

/** The sums of a part stay below this number of units, and so does the bias: together they are exact in float32. */
const PART_BELOW = 2 ** 23;

interface Weights {
  readonly dims: Shape;
  /** Integers minus zero points. */
  readonly integers: Float64Array;
  readonly scales: readonly number[];
  /** Axes of the output and of the input channels. */
  readonly axes: { readonly output: number; readonly input: number };
}

/**
 * Replaces the layer by parts of it and their sum, a float32 number: exact below 2²⁴ units, and above it large enough to saturate.
 * @param unit the result is a multiple of it.
 * @returns false for layers that cannot be divided: groups, transposed inputs, weights that are no constants.
 */
export function splitSums(editor: ModelEditor, node: Node, unit: number): boolean {
  const [x, , bias] = node.inputs;
  const [output] = node.outputs;
  const input = x === undefined ? undefined : findDequantized(editor.graph, x);
  const weights = readWeights(editor, node);
  if (x === undefined || output === undefined || input === undefined || weights === undefined || input.scales.length > 1) return false;
  const largest = Math.max(...input.zeroPoints.map(zero => Math.max(input.high - zero, zero - input.low)));
  const product = (input.scales[0] ?? 0) * Math.max(...weights.scales);
  const parts = largestBias(editor, bias) < PART_BELOW * unit ? divide(weights, (largest * product) / unit) : undefined;
  if (parts === undefined) return false;
  const sums = parts.map(([from, to], index) => addPart(editor, node, { weights, from, to, bias: index === 0 ? bias : undefined }));
  removeNode(editor.graph, node.id);
  addSum(editor, sums, output);
  editor.readAgain();
  return true;
}

function readWeights(editor: ModelEditor, node: Node): Weights | undefined {
  const found = node.inputs[1] === undefined ? undefined : findDequantized(editor.graph, node.inputs[1]);
  if (found?.constant === undefined) return undefined;
  const axes = axesOf(node, found.constant.dims);
  if (axes === undefined || (found.scales.length > 1 && normalAxis(found, found.constant.dims) !== axes.output)) return undefined;
  const integers = Float64Array.from(decodeRawTensor(found.constant).data as ArrayLike<number>);
  const { inner, count } = stepsOf(found.constant.dims, axes.output);
  const centered = integers.map((value, index) => value - (found.zeroPoints[Math.floor(index / inner) % count] ?? found.zeroPoints[0]));
  return { dims: found.constant.dims, integers: centered, scales: found.scales, axes };
}

function normalAxis({ axis }: Dequantized, dims: Shape): number {
  return axis < 0 ? axis + dims.length : axis;
}

function axesOf(node: Node, dims: Shape): Weights['axes'] | undefined {
  switch (node.opType) {
    case 'Conv':
      return getInt(node, 'group', 1) === 1 ? { output: 0, input: 1 } : undefined;
    case 'Gemm':
      if (getInt(node, 'transA', 0) !== 0) return undefined;
      return getInt(node, 'transB', 0) === 0 ? { output: 1, input: 0 } : { output: 0, input: 1 };
    case 'MatMul':
      return dims.length === 2 ? { output: 1, input: 0 } : undefined;
    default:
      return undefined;
  }
}

function stepsOf(dims: Shape, axis: number): { readonly inner: number; readonly count: number } {
  return { inner: countElements(dims.slice(axis + 1)), count: dims[axis] ?? 0 };
}

/** Ranges of input channels whose largest sums stay below the limit; undefined if one channel alone does not. */
function divide({ dims, integers, axes }: Weights, largest: number): readonly (readonly [number, number])[] | undefined {
  const [out, channel] = [stepsOf(dims, axes.output), stepsOf(dims, axes.input)];
  // Per input channel, the largest sum of each output channel.
  const each = Array.from({ length: channel.count }, () => new Float64Array(out.count));
  for (let index = 0; index < integers.length; index++) {
    const sums = each[Math.floor(index / channel.inner) % channel.count] as Float64Array;
    const o = Math.floor(index / out.inner) % out.count;
    sums[o] = (sums[o] as number) + Math.abs(integers[index] as number) * largest;
  }
  const parts: [number, number][] = [];
  let [total, from] = [new Float64Array(out.count), 0];
  for (const [index, sums] of each.entries()) {
    if (sums.some(sum => sum >= PART_BELOW)) return undefined;
    const next = total.map((sum, o) => sum + (sums[o] as number));
    const fits = next.every(sum => sum < PART_BELOW);
    if (!fits) {
      parts.push([from, index]);
      from = index;
    }
    total = fits ? next : sums.slice();
  }
  return [...parts, [from, channel.count]];
}

function largestBias(editor: ModelEditor, id: ValueId | undefined): number {
  if (id === undefined) return 0;
  const found = findDequantized(editor.graph, id);
  if (found?.constant === undefined) return Number.POSITIVE_INFINITY;
  const { scales, zeroPoints } = found;
  const values = Array.from(decodeRawTensor(found.constant).data as ArrayLike<number>, Math.abs);
  return (Math.max(...values) + Math.max(...zeroPoints.map(Math.abs))) * Math.max(...scales);
}

interface Part {
  readonly weights: Weights;
  readonly from: number;
  readonly to: number;
  readonly bias: ValueId | undefined;
}

function addPart(editor: ModelEditor, node: Node, { weights, from, to, bias }: Part): ValueId {
  const [x] = node.inputs;
  const axis = editor.integers([node.opType === 'Conv' || node.opType === 'Gemm' ? 1 : -1]);
  const slice = editor.add('Slice', [getDefined(x, 'input'), editor.integers([from]), editor.integers([to]), axis]);
  const inputs = [slice, editor.constant(sliceWeights(weights, from, to)), ...(bias === undefined ? [] : [bias])];
  return editor.add(node.opType, inputs, Object.fromEntries<Attribute>(node.attributes));
}

/** The real weights of some input channels. */
function sliceWeights({ dims, integers, scales, axes }: Weights, from: number, to: number): ReturnType<typeof encodeRawTensor> {
  const [out, channel] = [stepsOf(dims, axes.output), stepsOf(dims, axes.input)];
  const size = dims.map((dim, axis) => (axis === axes.input ? to - from : dim));
  const kept = new Float32Array(countElements(size));
  let at = 0;
  for (let index = 0; index < integers.length; index++) {
    const own = Math.floor(index / channel.inner) % channel.count;
    if (own < from || own >= to) continue;
    kept[at++] = (integers[index] as number) * (scales[(Math.floor(index / out.inner) % out.count) % scales.length] as number);
  }
  return encodeRawTensor(makeTensor('float32', size, kept));
}

/** Two parts are added in float32; more in float64, as a sum on the way can be larger than the result. */
function addSum(editor: ModelEditor, sums: readonly ValueId[], output: ValueId): void {
  const [first, ...others] = sums;
  const start = getDefined(first, 'a part');
  if (others.length <= 1) {
    const [other] = others;
    addNode(editor.model, editor.graph, {
      opType: other === undefined ? 'Identity' : 'Add',
      inputs: other === undefined ? [start] : [start, other],
      outputs: [output],
    });
    return;
  }
  const double = (id: ValueId): ValueId => editor.add('Cast', [id], { to: int(11) });
  const total = others.reduce((sum, id) => editor.add('Add', [sum, double(id)]), double(start));
  addNode(editor.model, editor.graph, { opType: 'Cast', inputs: [total], outputs: [output], attributes: { to: int(1) } });
}
