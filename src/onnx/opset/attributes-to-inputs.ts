/** Conversion steps for operators whose attributes became inputs: the numbers of the attribute become an initializer. */

import type { DType } from '../../tensor/dtype.js';
import { encodeBfloat16Array, encodeFloat16Array } from '../../tensor/numeric/half.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { getFloat, getInt, int } from '../ir/attribute.js';
import type { Node, ValueId } from '../ir/model.js';
import { addConstant, addIntegers, connect, type Step, type StepPlace } from './step.js';

/** An integer-list attribute becomes input `index`; if it is absent, so is the input. */
export function integersToInput(attribute: string, index: number): Step {
  return place => {
    const values = rawIntegers(place.node, attribute);
    place.node.attributes.delete(attribute);
    if (values !== undefined) connect(place, index, addIntegers(place, attribute, values));
    return undefined;
  };
}

/** Slice 10: starts, ends and axes. */
export const sliceToInputs: Step = place => {
  const { node } = place;
  const [starts, ends] = [rawIntegers(node, 'starts'), rawIntegers(node, 'ends')];
  if (starts === undefined || ends === undefined) return 'its starts or ends are missing';
  const axes = rawIntegers(node, 'axes');
  for (const name of ['starts', 'ends', 'axes']) node.attributes.delete(name);
  connect(place, 1, addIntegers(place, 'starts', starts));
  connect(place, 2, addIntegers(place, 'ends', ends));
  if (axes !== undefined) connect(place, 3, addIntegers(place, 'axes', axes));
  return undefined;
};

/** TopK 10. The defaults of the attributes new in 11, largest and sorted, are the behavior of 10. */
export const topKToInputs: Step = place => {
  const { node } = place;
  if (!node.attributes.has('k')) return 'its k is missing';
  const k = getInt(node, 'k', 0);
  node.attributes.delete('k');
  connect(place, 1, addIntegers(place, 'k', [k]));
  return undefined;
};

/** Clip 11: min and max as scalars of the input's dtype; an absent bound stays absent. */
export const clipToInputs: Step = place => {
  const { node } = place;
  const bounds = ['min', 'max'].filter(name => node.attributes.has(name));
  const constants = bounds.map(name => scalarLikeInput(place, getFloat(node, name, 0)));
  if (constants.includes(undefined)) return 'the dtype of its input is not known';
  for (const [index, name] of bounds.entries()) {
    const constant = constants[index];
    node.attributes.delete(name);
    if (constant !== undefined) connect(place, name === 'min' ? 1 : 2, addConstant(place, name, constant));
  }
  return undefined;
};

/** Pad 11: pads, and the value if it is not zero. */
export const padToInputs: Step = place => {
  const { node } = place;
  const pads = rawIntegers(node, 'pads');
  if (pads === undefined) return 'its pads are missing';
  const value = getFloat(node, 'value', 0);
  const constant = value === 0 ? undefined : scalarLikeInput(place, value);
  if (value !== 0 && constant === undefined) return 'the dtype of its input is not known';
  node.attributes.delete('pads');
  node.attributes.delete('value');
  connect(place, 1, addIntegers(place, 'pads', pads));
  if (constant !== undefined) connect(place, 2, addConstant(place, 'value', constant));
  return undefined;
};

/** Split 18: without sizes, it needs the number of outputs. */
export const splitNeedsCount: Step = ({ node }) => {
  if (node.inputs[1] === undefined) node.attributes.set('num_outputs', int(node.outputs.length));
  return undefined;
};

/** Dropout 12: without training_mode it copies its input, so the ratio is dropped. Step 10 handles the dtype of the mask. */
export const dropoutToInputs: Step = place => {
  place.node.attributes.delete('ratio');
  return undefined;
};

/** DFT 20: the axis becomes an input with another default. */
export const dftToInputs: Step = place => {
  const axis = getInt(place.node, 'axis', 1);
  place.node.attributes.delete('axis');
  const constant = encodeRawTensor(makeTensor('int64', [], BigInt64Array.of(BigInt(axis))));
  connect(place, 2, addConstant(place, 'axis', constant));
  return undefined;
};

/** As bigint: the end of a Slice may be the largest int64. */
function rawIntegers(node: Node, name: string): readonly bigint[] | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === 'ints' ? attribute.value : undefined;
}

/** A scalar of the dtype of the node's first input; undefined if that dtype is not known or not a float. */
function scalarLikeInput({ node, types }: StepPlace, value: number): RawTensor | undefined {
  const id: ValueId | undefined = node.inputs[0];
  const dtype: DType | undefined = id === undefined ? undefined : types.get(id)?.dtype;
  switch (dtype) {
    case 'float32':
      return encodeRawTensor(makeTensor('float32', [], Float32Array.of(value)));
    case 'float64':
      return encodeRawTensor(makeTensor('float64', [], Float64Array.of(value)));
    case 'float16':
      return encodeRawTensor(makeTensor('float16', [], encodeFloat16Array([value])));
    case 'bfloat16':
      return encodeRawTensor(makeTensor('bfloat16', [], encodeBfloat16Array([value])));
    default:
      return undefined;
  }
}
