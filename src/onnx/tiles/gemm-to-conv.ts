/** Turns a Gemm on flattened tiles into a Conv whose kernel is the tile. */
import { getDefined } from '../../base/invariant.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { getInt, int, ints } from '../ir/attribute.js';
import type { Node, ValueId } from '../ir/model.js';
import type { TileEditor } from './tile-editor.js';
import type { Pair } from './tile-facts.js';

export interface TileConv {
  readonly channels: number;
  readonly kernel: Pair<number>;
  readonly stride: Pair<number>;
}

/** Replaces `gemm` by a Conv of `input`, with the same name and output. */
export function replaceByConv(editor: TileEditor, gemm: Node, input: ValueId, { channels, kernel, stride }: TileConv): void {
  const weight = getDefined(gemm.inputs[1], 'weight of Gemm');
  const isTransposed = getInt(gemm, 'transB', 0) === 1;
  const toKernel = (constant: RawTensor): RawTensor => {
    const [first = 0, second = 0] = constant.dims;
    const rows = isTransposed ? first : second;
    const bytes = isTransposed ? constant.bytes : transpose(constant, first, second);
    return { dtype: constant.dtype, dims: [rows, channels, ...kernel], bytes };
  };
  const bias = gemm.inputs[2];
  const toVector = (constant: RawTensor): RawTensor => ({ ...constant, dims: [constant.dims.reduce((product, dim) => product * dim, 1)] });
  const inputs = [
    input,
    rebuildConstant(editor, weight, toKernel, isTransposed ? 'kept' : 'flipped'),
    ...(bias === undefined ? [] : [rebuildConstant(editor, bias, toVector, 'last')]),
  ];
  editor.replace(gemm, { opType: 'Conv', inputs, attributes: { kernel_shape: ints(kernel), strides: ints(stride) } });
}

/** How the axis of per-channel scales changes. */
type AxisChange = 'kept' | 'flipped' | 'last';

/** The constant `id`, also behind Q and DQ, in another shape. */
export function rebuildConstant(editor: TileEditor, id: ValueId, change: (constant: RawTensor) => RawTensor, axis: AxisChange): ValueId {
  const { graph } = editor;
  const value = getDefined(graph.values.get(id), `value ${id}`);
  if (value.constant !== undefined) {
    if (value.constant.dtype === 'string') throw new TypeError('a weight is not text');
    return editor.constant(`${value.name}_tiles`, change(value.constant));
  }
  const producer = getDefined(graph.nodes.get(getDefined(value.producer, value.name)), value.name);
  const from = rebuildConstant(editor, getDefined(producer.inputs[0], value.name), change, axis);
  const copied = editor.copy(producer, from, `${value.name}_tiles`);
  const node = getDefined(graph.nodes.get(getDefined(graph.values.get(copied)?.producer, value.name)), value.name);
  if (node.opType === 'QuantizeLinear' || node.opType === 'DequantizeLinear') {
    const own = getInt(node, 'axis', 1);
    node.attributes.set('axis', int(newAxis(own, axis)));
  }
  return copied;
}

function newAxis(axis: number, change: AxisChange): number {
  if (change === 'last') return 0;
  const positive = axis < 0 ? axis + 2 : axis;
  return change === 'flipped' ? 1 - positive : positive;
}

/** The bytes of a matrix [rows, columns] as [columns, rows]. */
function transpose(constant: RawTensor, rows: number, columns: number): Uint8Array {
  const size = constant.bytes.byteLength / (rows * columns);
  const bytes = new Uint8Array(constant.bytes.byteLength);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const from = (row * columns + column) * size;
      bytes.set(constant.bytes.subarray(from, from + size), (column * rows + row) * size);
    }
  return bytes;
}
