/** Shape inference of elementwise operators: the shape of the input, or the broadcast shape of several inputs. */
import type { DType } from '../../../tensor/dtype.js';
import { findDTypeByOnnx } from '../../../tensor/dtype.js';
import { getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { addDims, broadcastTwo, divideDims, multiplyDims, subtractDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

const sameAsInput: InferFunction = c => [known(c.dtype(0), c.dims(0))];
const passesElements: InferFunction = c => [known(c.dtype(0), c.dims(0), c.elements(0))];
const boolOfInput: InferFunction = c => [known('bool', c.dims(0))];

const UNARY = [
  ...['Abs', 'Acos', 'Acosh', 'Asin', 'Asinh', 'Atan', 'Atanh', 'Ceil', 'Celu', 'Clip', 'Cos', 'Cosh', 'Elu', 'Erf', 'Exp', 'Floor'],
  ...['Gelu', 'HardSigmoid', 'HardSwish', 'Hardmax', 'LeakyRelu', 'Log', 'LogSoftmax', 'Mish', 'Not', 'Reciprocal', 'Relu', 'Round'],
  ...['Selu', 'Shrink', 'Sigmoid', 'Sign', 'Sin', 'Sinh', 'Softmax', 'Softplus', 'Softsign', 'Sqrt', 'Swish', 'Tan', 'Tanh'],
  ...['ThresholdedRelu', 'BitwiseNot', 'PRelu', 'CumSum', 'Trilu', 'LRN', 'InstanceNormalization', 'GroupNormalization', 'LpNormalization'],
  ...['MeanVarianceNormalization', 'ReverseSequence', 'CumProd', 'RMSNormalization'],
];

/** The broadcast of the shapes of the inputs in `indices`. */
export function broadcastInputs(c: NodeContext, indices: readonly number[]): readonly Dim[] | undefined {
  let result: readonly Dim[] = [];
  for (const index of indices) {
    const dims = c.dims(index);
    if (dims === undefined) return undefined;
    const next = broadcastTwo(result, dims);
    if (next === undefined) {
      throw mismatch(c, `inputs ${indices.map(other => c.describe(other)).join(' and ')} do not broadcast`);
    }
    result = next;
  }
  return result;
}

type Fold = (a: Dim, b: Dim) => Dim;

/** Before opset 7, the second input is broadcast to the shape of the first (attribute `broadcast`). */
function binaryDims(c: NodeContext): readonly Dim[] | undefined {
  return c.opset < 7 ? c.dims(0) : broadcastInputs(c, [0, 1]);
}

function arithmetic(fold?: Fold): InferFunction {
  return c => {
    const [a, b] = [c.elements(0), c.elements(1)];
    const elements = fold === undefined || a === undefined || b === undefined ? undefined : zip(a, b, fold);
    return [known(c.dtype(0) ?? c.dtype(1), binaryDims(c), elements)];
  };
}

function zip(a: readonly Dim[], b: readonly Dim[], fold: Fold): readonly Dim[] | undefined {
  if (a.length === b.length) return a.map((dim, index) => fold(dim, b[index]));
  if (a.length === 1) return b.map(dim => fold(a[0], dim));
  return b.length === 1 ? a.map(dim => fold(dim, b[0])) : undefined;
}

const whenNumbers =
  (fold: (a: number, b: number) => number): Fold =>
  (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? fold(a, b) : a === b ? a : undefined;

/** The result for known integers, as 1 or 0. */
function comparison(compare?: (a: number, b: number) => boolean): InferFunction {
  return c => {
    const [a, b] = [c.elements(0), c.elements(1)];
    const fold: Fold = (x, y) =>
      typeof x === 'number' && typeof y === 'number' && compare !== undefined ? Number(compare(x, y)) : undefined;
    return [known('bool', binaryDims(c), a && b && zip(a, b, fold))];
  };
}

const negate: InferFunction = c => [
  known(
    c.dtype(0),
    c.dims(0),
    c.elements(0)?.map(dim => (typeof dim === 'number' ? 0 - dim : undefined)),
  ),
];

function variadic(fold?: Fold): InferFunction {
  return c => {
    const indices = c.node.inputs.map((_, index) => index);
    const dims = c.opset < 8 ? c.dims(0) : broadcastInputs(c, indices);
    const lists = indices.map(index => c.elements(index));
    const [first, second] = lists;
    const elements = fold && lists.length === 2 && first && second ? zip(first, second, fold) : undefined;
    return [known(c.dtype(0), dims, elements)];
  };
}

const where: InferFunction = c => [known(c.dtype(1) ?? c.dtype(2), broadcastInputs(c, [0, 1, 2]))];

const cast: InferFunction = c => {
  const to = findDTypeByOnnx(getInt(c.node, 'to', 0));
  return [known(to, c.dims(0), isInteger(to) ? c.elements(0) : undefined)];
};

const isInteger = (dtype: DType | undefined): boolean => dtype === 'int64' || dtype === 'int32';

const dropout: InferFunction = c => [
  known(c.dtype(0), c.dims(0)),
  c.node.outputs.length > 1 ? known(c.opset < 10 ? c.dtype(0) : 'bool', c.dims(0)) : undefined,
];

/** Running statistics have the shape of the scale. */
const batchNormalization: InferFunction = c => {
  const x = c.dims(0);
  for (const index of [1, 2, 3, 4]) {
    const size = c.dims(index)?.[0];
    if (typeof x?.[1] === 'number' && typeof size === 'number' && size !== x[1]) {
      throw mismatch(c, `${c.describe(index)} has ${size} channels, input ${c.describe(0)} has ${x[1]}`);
    }
  }
  return c.node.outputs.map((_, index) => (index === 0 ? known(c.dtype(0), x) : known(c.dtype(index + 2) ?? c.dtype(0), c.dims(3))));
};

const layerNormalization: InferFunction = c => {
  const dims = c.dims(0);
  const axis = getInt(c.node, 'axis', -1);
  const stats = dims?.map((dim, index) => (index >= (axis < 0 ? axis + dims.length : axis) ? 1 : dim));
  return c.node.outputs.map((_, index) => (index === 0 ? known(c.dtype(0), dims) : known('float32', stats)));
};

export const ELEMENTWISE: InferTable = {
  ...Object.fromEntries(UNARY.map(name => [name, sameAsInput])),
  Identity: passesElements,
  IsNaN: boolOfInput,
  IsInf: boolOfInput,
  Cast: cast,
  BitCast: c => [known(findDTypeByOnnx(getInt(c.node, 'to', 0)), c.dims(0))],
  CastLike: c => [known(c.dtype(1), c.dims(0))],
  Dropout: dropout,
  BatchNormalization: batchNormalization,
  LayerNormalization: layerNormalization,
  Add: arithmetic(addDims),
  Sub: arithmetic(subtractDims),
  Mul: arithmetic(multiplyDims),
  Div: arithmetic(divideDims),
  Pow: arithmetic(),
  Mod: arithmetic(),
  BitShift: arithmetic(),
  BitwiseAnd: arithmetic(),
  BitwiseOr: arithmetic(),
  BitwiseXor: arithmetic(),
  And: comparison((a, b) => a !== 0 && b !== 0),
  Or: comparison((a, b) => a !== 0 || b !== 0),
  Xor: comparison((a, b) => (a !== 0) !== (b !== 0)),
  Equal: comparison((a, b) => a === b),
  Greater: comparison((a, b) => a > b),
  GreaterOrEqual: comparison((a, b) => a >= b),
  Less: comparison((a, b) => a < b),
  LessOrEqual: comparison((a, b) => a <= b),
  Neg: negate,
  Min: variadic(whenNumbers(Math.min)),
  Max: variadic(whenNumbers(Math.max)),
  Sum: variadic(),
  Mean: variadic(),
  Where: where,
};
