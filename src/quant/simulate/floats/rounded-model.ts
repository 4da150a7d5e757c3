/** Makes a model that rounds its weights, and the result of each operator, to the numbers of a float format: what an NPU computes in it. */
import { getDefined } from '../../../base/invariant.js';
import { int, ints } from '../../../onnx/ir/attribute.js';
import { cloneModel } from '../../../onnx/ir/clone.js';
import { getValue, indexUses, removeNode, removeValue } from '../../../onnx/ir/edit.js';
import type { Dim, Graph, Model, Node, Value, ValueId } from '../../../onnx/ir/model.js';
import { sortTopologically } from '../../../onnx/ir/sort.js';
import { inferShapes } from '../../../onnx/shape-inference/infer-shapes.js';
import { BLOCK_SIZE } from '../../../tensor/numeric/block-float.js';
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../tensor/tensor.js';
import { QuantError } from '../../integers/quant-error.js';
import { ModelEditor } from '../steps/model-editor.js';
import { type FloatFormat, roundToFormat } from './float-format.js';

/** Names of the nodes and values that round. */
export const ROUNDING_PREFIX = 'tanren.round/';

/** Operators whose results have the numbers of their inputs. */
const MOVES = new Set([
  'DepthToSpace',
  'Expand',
  'Flatten',
  'Gather',
  'Identity',
  'MaxPool',
  'Relu',
  'Reshape',
  'Slice',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);

/** Element types of ONNX. */
const [FLOAT, BFLOAT16] = [int(1), int(16)];

/**
 * The argument is not changed. In bf16, operators that only move data are not rounded again; in bfp16 they are, since blocks change.
 * @throws QuantError `simulate-quantized` for models with QuantizeLinear or DequantizeLinear.
 */
export function roundModel(given: Model, format: FloatFormat): Model {
  const quantized = [...given.graph.nodes.values()].find(({ opType }) => opType === 'QuantizeLinear' || opType === 'DequantizeLinear');
  if (quantized !== undefined) {
    throw new QuantError('simulate-quantized', `${format} is for float models, and this one has ${quantized.opType} "${quantized.name}"`, {
      help: `give it the model before quantization, or compute integers: remove \`arithmetic: ${format}\``,
    });
  }
  const model = withoutRounding(given);
  const { graph } = model;
  const types = inferShapes(model);
  const editor = new ModelEditor(model, ROUNDING_PREFIX);
  roundWeights(graph, format);
  const isRounded = (node: Node): boolean => format === 'bf16' && MOVES.has(node.opType);
  const results = [...graph.nodes.values()].flatMap(node => (isRounded(node) ? [] : node.outputs));
  for (const id of [...graph.inputs, ...results]) {
    const type = id === undefined ? undefined : types.get(id);
    if (id === undefined || type?.dtype !== 'float32' || graph.values.get(id)?.constant !== undefined) continue;
    const rounded = format === 'bf16' ? roundBf16(editor, id) : roundBfp16(editor, id, type.dims?.[1]);
    if (rounded !== undefined) readInstead(editor, getValue(graph, id), rounded);
  }
  sortTopologically(graph);
  return model;
}

function roundWeights(graph: Graph, format: FloatFormat): void {
  for (const value of graph.values.values()) {
    if (value.constant?.dtype !== 'float32') continue;
    const { dims, data } = decodeRawTensor(value.constant);
    // A bias has no blocks of its own: it is added before the sum is rounded.
    if (format === 'bfp16' && dims.length < 2) continue;
    value.constant = encodeRawTensor(makeTensor('float32', dims, roundToFormat(data as Float32Array, dims, format)));
  }
}

/** All that read `value`, outputs of the graph too, read `by`. An output keeps its name. */
function readInstead(editor: ModelEditor, value: Value, by: ValueId): void {
  const { graph } = editor;
  editor.replaceReaders(value.id, by);
  const output = graph.outputs.indexOf(value.id);
  if (output < 0 || value.producer === undefined) return;
  const rounded = getValue(graph, by);
  [rounded.name, value.name] = [value.name, rounded.name];
  rounded.type = value.type;
  graph.outputs[output] = by;
}

function roundBf16(editor: ModelEditor, x: ValueId): ValueId {
  return editor.add('Cast', [editor.add('Cast', [x], { to: BFLOAT16 })], { to: FLOAT });
}

/** 2^23 + 1 and 1 − 2^−24: their products isolate the highest bit of a float32 number. (Rump, Ogita, Oishi: Accurate Floating-Point Summation, 2008.) */
const [SPLITTER, BELOW_ONE] = [2 ** 23 + 1, 1 - 2 ** -24];

/** Magnitudes outside are not isolated without overflow or underflow; blocks of smaller numbers keep the least exponent. */
const [LEAST, MOST] = [2 ** -100, 2 ** 100];
const LARGEST = 3.4028234663852886e38;
const MULTIPLES = 127;

/** Undefined for values without an axis 1 of known size. */
function roundBfp16(editor: ModelEditor, x: ValueId, channels: Dim | undefined): ValueId | undefined {
  if (typeof channels !== 'number' || channels === 0) return undefined;
  const scalar = (value: number): ValueId => editor.float(value);
  const reshape = (value: ValueId, dims: readonly number[]): ValueId => editor.add('Reshape', [value, editor.integers(dims)]);
  const shape = editor.add('Shape', [x]);
  const flat = reshape(x, [0, channels, -1]);
  const missing = (BLOCK_SIZE - (channels % BLOCK_SIZE)) % BLOCK_SIZE;
  const whole = missing === 0 ? flat : editor.add('Pad', [flat, editor.integers([0, 0, 0, 0, missing, 0])]);
  const blocks = reshape(whole, [0, (channels + missing) / BLOCK_SIZE, BLOCK_SIZE, -1]);
  const magnitude = editor.add('Abs', [blocks]);
  const isBounded = editor.add('Not', [editor.add('Greater', [magnitude, scalar(LARGEST)])]);
  const isNumber = editor.add('And', [isBounded, editor.add('Not', [editor.add('IsNaN', [blocks])])]);
  const counted = editor.add('Where', [isNumber, magnitude, scalar(0)]);
  const largest = editor.add('MaxPool', [counted], { kernel_shape: ints([BLOCK_SIZE, 1]), strides: ints([BLOCK_SIZE, 1]) });
  const bounded = editor.add('Min', [editor.add('Max', [largest, scalar(LEAST)]), scalar(MOST)]);
  const split = editor.add('Mul', [bounded, scalar(SPLITTER)]);
  const power = editor.add('Abs', [editor.add('Sub', [split, editor.add('Mul', [split, scalar(BELOW_ONE)])])]);
  const unit = editor.add('Mul', [power, scalar(2 ** -6)]);
  const multiples = editor.add('Round', [editor.add('Div', [blocks, unit])]);
  const limited = editor.add('Min', [editor.add('Max', [multiples, scalar(-MULTIPLES)]), scalar(MULTIPLES)]);
  const rounded = editor.add('Where', [isNumber, editor.add('Mul', [limited, unit]), blocks]);
  const joined = reshape(rounded, [0, channels + missing, -1]);
  const kept =
    missing === 0 ? joined : editor.add('Slice', [joined, editor.integers([0]), editor.integers([channels]), editor.integers([1])]);
  return editor.add('Reshape', [kept, shape]);
}

/** The model without the nodes that round: its weights keep the numbers of the format. The argument is not changed. */
export function withoutRounding(given: Model): Model {
  const model = cloneModel(given);
  const { graph } = model;
  const isOwn = (node: Node): boolean => node.name.startsWith(ROUNDING_PREFIX);
  const own = new Set([...graph.nodes.values()].filter(isOwn).map(({ id }) => id));
  const replacements = new Map<ValueId, ValueId>();
  for (const id of own) {
    const [output] = graph.nodes.get(id)?.outputs ?? [];
    if (output !== undefined) replacements.set(output, sourceOf(graph, own, output));
  }
  for (const [from, to] of replacements) {
    const [rounded, source] = [getValue(graph, from), getValue(graph, to)];
    const output = graph.outputs.indexOf(from);
    if (output < 0) continue;
    [rounded.name, source.name] = [source.name, rounded.name];
    graph.outputs[output] = to;
  }
  const kept = [...graph.nodes.values()].filter(({ id }) => !own.has(id));
  for (const node of kept) node.inputs = node.inputs.map(id => (id === undefined ? undefined : (replacements.get(id) ?? id)));
  for (const id of own) removeNode(graph, id);
  for (const { id, producer, constant } of [...graph.values.values()])
    if (producer === undefined && constant === undefined && !graph.inputs.includes(id)) removeValue(graph, id);
  dropUnread(graph);
  return model;
}

/** The one value from outside that the rounding nodes before `id` read. */
function sourceOf(graph: Graph, own: ReadonlySet<Node['id']>, id: ValueId): ValueId {
  for (let at = id; ; ) {
    const { producer } = getValue(graph, at);
    if (producer === undefined || !own.has(producer)) return at;
    const inputs = getDefined(graph.nodes.get(producer), 'rounding node').inputs;
    at = getDefined(
      inputs.find(input => input !== undefined && getValue(graph, input).constant === undefined),
      'the input of a rounding node',
    );
  }
}

function dropUnread(graph: Graph): void {
  const uses = indexUses(graph);
  for (const { id, constant, name } of [...graph.values.values()])
    if (constant !== undefined && name.startsWith(ROUNDING_PREFIX) && !uses.has(id)) removeValue(graph, id);
}
