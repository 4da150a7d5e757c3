/** Conversion steps from the broadcasting of operator set 6 to that of 7, which aligns shapes at their ends as NumPy does. */
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { getInt } from '../ir/attribute.js';
import { isStatic } from '../shape-inference/context/dims.js';
import { addBefore, addConstant, connect, rankOf, type Step, type StepPlace } from './step.js';

/** Add, Mul, Less and similar: the dims of the second input started at `axis` of the first, by default aligned at the end. */
export const alignSecondInput: Step = place => {
  const { node } = place;
  const axis = getInt(node, 'axis', Number.NaN);
  const broadcasts = getInt(node, 'broadcast', 0) !== 0;
  const [rank, second] = [rankOf(place, 0), rankOf(place, 1)];
  if (broadcasts && !Number.isNaN(axis)) {
    if (rank === undefined || second === undefined) return 'it broadcasts from an axis, and the rank of an input is not known';
    const from = axis < 0 ? axis + rank : axis;
    if (from < 0 || from > rank) return `its axis is ${axis}, outside the rank ${rank} of its first input`;
    const reason = appendOnes(place, rank - from - second);
    if (reason !== undefined) return reason;
  }
  node.attributes.delete('axis');
  node.attributes.delete('broadcast');
  return undefined;
};

/** PRelu: one slope per channel, along axis 1. */
export const alignSlope: Step = place => {
  const id = place.node.inputs[1];
  const dims = id === undefined ? undefined : place.types.get(id)?.dims;
  const rank = rankOf(place, 0);
  if (dims === undefined || rank === undefined) return 'the shape of its input or slope is not known';
  return dims.length === 1 && dims[0] !== 1 ? appendOnes(place, rank - 2) : undefined;
};

/** Gemm: the third input broadcasts without an attribute. */
export const dropBroadcast: Step = ({ node }) => {
  node.attributes.delete('broadcast');
  return undefined;
};

/** Appends `count` dims of size 1 to the second input. */
function appendOnes(place: StepPlace, count: number): string | undefined {
  const id = place.node.inputs[1];
  const dims = id === undefined ? undefined : place.types.get(id)?.dims;
  if (count === 0) return undefined;
  if (count < 0 || !isStatic(dims)) return 'the shape of its second input is not known, or does not match its axis';
  const shape = [...dims, ...Array.from({ length: count }, () => 1)];
  const wanted = addConstant(place, 'shape', encodeRawTensor(makeTensor('int64', [shape.length], BigInt64Array.from(shape, BigInt))));
  connect(place, 1, addBefore(place, { opType: 'Reshape', inputs: [id, wanted] }));
  return undefined;
}
