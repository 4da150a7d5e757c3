/** A Conv, ConvTranspose or Gemm with float32 constants of its own, whose weights can be multiplied by factors per input and output channel. */
import type { Tensor } from '../../../../tensor/tensor.js';
import { getInt } from '../../../ir/attribute.js';
import type { Node, ValueId } from '../../../ir/model.js';
import { type NewConstant, newNode, type PatchNode, type Ref } from '../../../rewrite/patch.js';
import type { Match } from '../../../rewrite/rule.js';
import { findFloat32, isRow, newFloats } from '../../shared/constants.js';

export const SCALABLE = ['Conv', 'ConvTranspose', 'Gemm'];

export interface ScalableLayer {
  readonly node: Node;
  readonly weight: LayerFloats;
  readonly bias: LayerFloats | undefined;
  /** The weight is [rows, columns, inner]; all elements of one row and column belong to one pair of channels. */
  readonly rows: number;
  readonly columns: number;
  readonly inner: number;
  readonly inputs: number;
  readonly outputs: number;
  /** 1: every output channel reads every input channel. */
  readonly groups: number;
  outputAt(row: number, column: number): number;
  inputAt(row: number, column: number): number;
}

export interface LayerFloats {
  readonly value: ValueId;
  readonly floats: Tensor<'float32'>;
}

/** The layer, or the reason why its weights cannot be scaled. `flattened`: the elements per channel that a Flatten before a Gemm makes adjacent. */
export function readScalable(match: Match, node: Node, flattened = 1): ScalableLayer | string {
  const weight = readOwn(match, node.inputs[1]);
  if (typeof weight === 'string') return `its weight ${weight}`;
  const bias = node.inputs[2] === undefined ? undefined : readOwn(match, node.inputs[2]);
  if (typeof bias === 'string') return `its bias ${bias}`;
  const layer = node.opType === 'Gemm' ? readGemm(node, weight, bias, flattened) : readConv(node, weight, bias);
  if (layer === undefined || layer.rows * layer.columns * layer.inner !== weight.floats.data.length || weight.floats.data.length === 0)
    return 'its weight has another form than its operator needs';
  if (bias !== undefined && !isRow(bias.floats.dims, layer.outputs)) return 'its bias is not one value per channel';
  return layer;
}

function readOwn(match: Match, value: ValueId | undefined): LayerFloats | string {
  const floats = value === undefined ? undefined : findFloat32(match.constantOf(value));
  if (value === undefined || floats === undefined) return 'is not a float32 constant';
  return match.useCount(value) > 1 ? 'has several readers (rule unshare-constants gives each a copy)' : { value, floats };
}

function readConv(node: Node, weight: LayerFloats, bias: LayerFloats | undefined): ScalableLayer | undefined {
  const [rows = 0, columns = 0, ...kernel] = weight.floats.dims;
  const groups = getInt(node, 'group', 1);
  if (groups < 1 || rows % groups !== 0 || kernel.length === 0) return undefined;
  const inner = kernel.reduce((product, size) => product * size, 1);
  const perGroup = rows / groups;
  // The columns of a row belong to the group of the row.
  const byRow = (row: number): number => row;
  const byColumn = (row: number, column: number): number => Math.floor(row / perGroup) * columns + column;
  const form = { node, weight, bias, rows, columns, inner, groups };
  return node.opType === 'Conv'
    ? { ...form, outputs: rows, inputs: columns * groups, outputAt: byRow, inputAt: byColumn }
    : { ...form, outputs: columns * groups, inputs: rows, outputAt: byColumn, inputAt: byRow };
}

function readGemm(node: Node, weight: LayerFloats, bias: LayerFloats | undefined, flattened: number): ScalableLayer | undefined {
  const [rows = 0, columns = 0, ...more] = weight.floats.dims;
  if (more.length > 0 || getInt(node, 'transA', 0) !== 0) return undefined;
  const isTransposed = getInt(node, 'transB', 0) !== 0;
  const elements = isTransposed ? columns : rows;
  if (elements % flattened !== 0) return undefined;
  const form = { node, weight, bias, rows, columns, inner: 1, groups: 1, inputs: elements / flattened };
  return isTransposed
    ? { ...form, outputs: rows, outputAt: row => row, inputAt: (_, column) => Math.floor(column / flattened) }
    : { ...form, outputs: columns, outputAt: (_, column) => column, inputAt: row => Math.floor(row / flattened) };
}

/** Factors of output channels, and divisors of input channels; undefined: all 1. */
export interface ChannelScales {
  readonly outputs: Float64Array | undefined;
  readonly inputs: Float64Array | undefined;
}

export interface ScaledLayer {
  readonly weight: Float32Array;
  readonly bias: Float32Array | undefined;
}

/**
 * Weight and bias multiplied in double precision and rounded once.
 * A reason if one is not finite, or if factors that are powers of two are rounded because a number becomes subnormal.
 */
export function scaleLayer(layer: ScalableLayer, scales: ChannelScales, factors: 'real' | 'power-of-two'): ScaledLayer | string {
  const { rows, columns, inner, weight, bias } = layer;
  const scaled = new Float32Array(weight.floats.data.length);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const output = scales.outputs?.[layer.outputAt(row, column)] ?? 1;
      const factor = output / (scales.inputs?.[layer.inputAt(row, column)] ?? 1);
      for (const end = at + inner; at < end; at++) {
        scaled[at] = (weight.floats.data[at] ?? 0) * factor;
        if (!isFaithful(weight.floats.data[at], factor, scaled[at], factors)) return OUT_OF_RANGE;
      }
    }
  }
  const biases = bias?.floats.data.map((value, output) => value * (scales.outputs?.[output] ?? 1));
  for (const [output, value] of biases?.entries() ?? [])
    if (!isFaithful(bias?.floats.data[output], scales.outputs?.[output] ?? 1, value, factors)) return OUT_OF_RANGE;
  return { weight: scaled, bias: biases };
}

const OUT_OF_RANGE = 'a scaled weight or bias leaves the range of float32';

function isFaithful(before = 0, factor: number, after = 0, factors: 'real' | 'power-of-two'): boolean {
  return Number.isFinite(after) && (factors === 'real' || after === before * factor);
}

/** The layer with other constants that reads `x`. */
export function layerWith(match: Match, { node, weight, bias }: ScalableLayer, x: Ref | undefined, scaled: ScaledLayer): PatchNode {
  const rename = ({ value, floats }: LayerFloats, values: Float32Array): NewConstant => newFloats(match.nameOf(value), floats.dims, values);
  const constants = [rename(weight, scaled.weight), ...(bias && scaled.bias ? [rename(bias, scaled.bias)] : [])];
  return newNode(node.opType, { name: node.name, inputs: [x, ...constants], attributes: node.attributes });
}
