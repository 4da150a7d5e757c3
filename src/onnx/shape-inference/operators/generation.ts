/** Shape inference of operators that create tensors from attributes and shapes. */
import type { DType } from '../../../tensor/dtype.js';
import { findDTypeByOnnx } from '../../../tensor/dtype.js';
import { findInts, getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { findIntegers } from '../context/constant-elements.js';
import { findConstantOf } from '../context/constant-node.js';
import { unknownDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch } from '../context/node-context.js';

const constant: InferFunction = c => {
  const value = findConstantOf(c.node);
  return [value && known(value.dtype, value.dims, findIntegers(value))];
};

const constantOfShape: InferFunction = c => {
  const value = c.node.attributes.get('value');
  const tensor = value?.kind === 'tensor' ? value.value : undefined;
  const shape = c.elements(0);
  const rank = c.dims(0)?.[0];
  const dims = shape ?? (typeof rank === 'number' ? unknownDims(rank) : undefined);
  const fill = tensor === undefined ? undefined : findIntegers({ ...tensor, dims: [1] } as typeof tensor)?.[0];
  const length = dims?.length === 1 && typeof dims[0] === 'number' && dims[0] <= 64 ? dims[0] : undefined;
  const elements = fill !== undefined && length !== undefined ? new Array<Dim>(length).fill(fill) : undefined;
  return [known(tensor?.dtype ?? 'float32', dims, elements)];
};

const range: InferFunction = c => {
  const [start, limit, delta] = [0, 1, 2].map(index => c.elements(index)?.[0]);
  if (typeof start === 'number' && typeof limit === 'number' && typeof delta === 'number') {
    if (delta === 0) throw mismatch(c, 'its delta is 0');
    return [known(c.dtype(0), [Math.max(Math.ceil((limit - start) / delta), 0)])];
  }
  return [known(c.dtype(0), [start === 0 && delta === 1 ? limit : undefined])];
};

const random =
  (fallback: DType): InferFunction =>
  c => [known(findDTypeByOnnx(getInt(c.node, 'dtype', 0)) ?? fallback, findInts(c.node, 'shape'))];

const randomLike: InferFunction = c => [known(findDTypeByOnnx(getInt(c.node, 'dtype', 0)) ?? c.dtype(0), c.dims(0))];

export const GENERATION: InferTable = {
  Constant: constant,
  ConstantOfShape: constantOfShape,
  Range: range,
  RandomNormal: random('float32'),
  RandomUniform: random('float32'),
  RandomNormalLike: randomLike,
  RandomUniformLike: randomLike,
  Bernoulli: randomLike,
  EyeLike: randomLike,
};
