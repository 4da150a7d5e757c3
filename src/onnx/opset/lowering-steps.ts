/**
 * Conversion steps to older operator sets, for every operator of the ONNX domain that is new or has a new form or meaning in sets 18 to 21.
 * @see github.com/onnx/onnx, docs/Changelog.md.
 */
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { findInts, getInt, getString, ints, string } from '../ir/attribute.js';
import type { Node } from '../ir/model.js';
import { addIntegers, connect, constantAt, reject, type Step, type StepPlace } from './step.js';

/** The oldest operator set that the steps here can produce. */
export const OLDEST_LOWERED = 17;

/** Drops new attributes whose value is the behavior of the older operator set. */
const dropDefaults =
  (defaults: Readonly<Record<string, number | string>>): Step =>
  ({ node }) => {
    const other = Object.entries(defaults).find(([name, value]) => node.attributes.has(name) && attributeLike(node, name, value) !== value);
    if (other !== undefined) return `its ${other[0]} is ${attributeLike(node, ...other)}`;
    for (const name of Object.keys(defaults)) node.attributes.delete(name);
    return undefined;
  };

function attributeLike(node: Node, name: string, like: number | string): number | string {
  return typeof like === 'number' ? getInt(node, name, like) : getString(node, name, like);
}

const all =
  (...steps: readonly Step[]): Step =>
  place => {
    for (const step of steps) {
      const reason = step(place);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };

const noNewAttribute =
  (name: string): Step =>
  ({ node }) =>
    node.attributes.has(name) ? `it has ${name}` : undefined;

const noInput =
  (index: number, name: string): Step =>
  ({ node }) =>
    node.inputs[index] === undefined ? undefined : `it has the input ${name}`;

const unless =
  (name: string, values: readonly string[]): Step =>
  ({ node }) => {
    const value = getString(node, name, '');
    return values.includes(value) ? `its ${name} is ${value}` : undefined;
  };

/** Reductions took their axes as an attribute. */
const axesToAttribute: Step = place => {
  const { node } = place;
  if (node.inputs[1] !== undefined) {
    const axes = readIntegers(place, 1);
    if (axes === undefined) return 'its axes are not constant';
    if (axes.length === 0 && getInt(node, 'noop_with_empty_axes', 0) !== 0) return 'it reduces no axis (noop_with_empty_axes)';
    if (axes.length > 0) node.attributes.set('axes', ints(axes));
    node.inputs.length = 1;
  } else if (getInt(node, 'noop_with_empty_axes', 0) !== 0) return 'it reduces no axis (noop_with_empty_axes)';
  node.attributes.delete('noop_with_empty_axes');
  return undefined;
};

function readIntegers(place: StepPlace, index: number): bigint[] | undefined {
  const constant = constantAt(place, index);
  return constant?.dtype === 'int64' ? [...(decodeRawTensor(constant).data as BigInt64Array)] : undefined;
}

/** Before 18, Split divided evenly or needed sizes. */
const splitStatesSizes: Step = place => {
  const { node, types } = place;
  const count = getInt(node, 'num_outputs', node.outputs.length);
  const id = node.inputs[0];
  const dims = id === undefined ? undefined : types.get(id)?.dims;
  const axis = getInt(node, 'axis', 0);
  const size = dims?.[axis < 0 ? axis + dims.length : axis];
  if (count !== node.outputs.length) return `its num_outputs is ${count}, but it has ${node.outputs.length} outputs`;
  if (node.attributes.has('num_outputs') && typeof size !== 'number') return 'the dim that it splits is not known';
  if (node.attributes.has('num_outputs') && typeof size === 'number' && size % count !== 0) {
    const share = Math.ceil(size / count);
    connect(
      place,
      1,
      addIntegers(
        place,
        'sizes',
        Array.from({ length: count }, (_, i) => Math.min(share, size - i * share)),
      ),
    );
  }
  node.attributes.delete('num_outputs');
  return undefined;
};

const averagePoolWithoutDilations: Step = ({ node }) => {
  if ((findInts(node, 'dilations') ?? []).some(dilation => dilation !== 1)) return 'it has dilations';
  node.attributes.delete('dilations');
  return undefined;
};

const OLD_GRID_MODES: Readonly<Record<string, string>> = { linear: 'bilinear', cubic: 'bicubic' };

const gridSampleModes: Step = ({ node }) => {
  const mode = getString(node, 'mode', 'linear');
  node.attributes.set('mode', string(OLD_GRID_MODES[mode] ?? mode));
  return undefined;
};

/** 4-bit and 16-bit integers were added in 21. */
const quantizeTo8Bits: Step = place => {
  const { node, types } = place;
  const [tensor, , zeroPoint] = node.inputs;
  const integers = node.opType === 'DequantizeLinear' ? tensor : zeroPoint;
  const dtype = integers === undefined ? undefined : types.get(integers)?.dtype;
  if (dtype !== undefined && !['int8', 'uint8', 'int32'].includes(dtype)) return `it has dtype ${dtype}`;
  return dropDefaults({ block_size: 0, output_dtype: 0 })(place);
};

const isNew = (opset: number): Step => reject(`the operator is new in operator set ${opset}`);

/** Operator → operator set of the node → step to the previous set. */
export const LOWERING_STEPS: Readonly<Record<string, Readonly<Record<number, Step>>>> = {
  AffineGrid: { 20: isNew(20) },
  AveragePool: { 19: averagePoolWithoutDilations },
  BitwiseAnd: { 18: isNew(18) },
  BitwiseNot: { 18: isNew(18) },
  BitwiseOr: { 18: isNew(18) },
  BitwiseXor: { 18: isNew(18) },
  Cast: { 19: dropDefaults({ saturate: 1 }) },
  CastLike: { 19: dropDefaults({ saturate: 1 }) },
  CenterCropPad: { 18: isNew(18) },
  Col2Im: { 18: isNew(18) },
  DFT: { 20: reject('its axis is an input with another default') },
  DeformConv: { 19: isNew(19) },
  DequantizeLinear: { 21: quantizeTo8Bits },
  Gelu: { 20: isNew(20) },
  GridSample: { 20: gridSampleModes },
  GroupNormalization: { 18: isNew(18), 21: reject('its scale and bias are per channel; before 21 they are per group') },
  ImageDecoder: { 20: isNew(20) },
  LpPool: { 18: all(noNewAttribute('dilations'), noNewAttribute('ceil_mode')) },
  Mish: { 18: isNew(18) },
  Pad: { 18: noInput(3, 'axes'), 19: unless('mode', ['wrap']) },
  QuantizeLinear: { 19: dropDefaults({ saturate: 1 }), 21: quantizeTo8Bits },
  ReduceL1: { 18: axesToAttribute },
  ReduceL2: { 18: axesToAttribute },
  ReduceLogSum: { 18: axesToAttribute },
  ReduceLogSumExp: { 18: axesToAttribute },
  ReduceMax: { 18: axesToAttribute },
  ReduceMean: { 18: axesToAttribute },
  ReduceMin: { 18: axesToAttribute },
  ReduceProd: { 18: axesToAttribute },
  ReduceSumSquare: { 18: axesToAttribute },
  RegexFullMatch: { 20: isNew(20) },
  Resize: {
    18: all(noNewAttribute('axes'), dropDefaults({ antialias: 0, keep_aspect_ratio_policy: 'stretch' })),
    19: unless('coordinate_transformation_mode', ['half_pixel_symmetric']),
  },
  ScatterElements: { 18: unless('reduction', ['max', 'min']) },
  ScatterND: { 18: unless('reduction', ['max', 'min']) },
  Split: { 18: splitStatesSizes },
  StringConcat: { 20: isNew(20) },
  StringSplit: { 20: isNew(20) },
};
