/** How did operator set 6 align two shapes, and how is the same said since 7, where they are aligned at their ends as in NumPy? */
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { getInt } from '../ir/attribute.js';
import { isStatic } from '../shape-inference/context/dims.js';
import { addBefore, addConstant, connect, rankOf, type Step, type StepPlace } from './step.js';

/** Add, Mul, Less and the like: the second input's dimensions began at `axis` of the first, by default so that both end together. */
export const alignSecondInput: Step = place => {
  const { node } = place;
  const axis = getInt(node, 'axis', Number.NaN);
  const broadcasts = getInt(node, 'broadcast', 0) !== 0;
  const [rank, second] = [rankOf(place, 0), rankOf(place, 1)];
  if (broadcasts && !Number.isNaN(axis)) {
    if (rank === undefined || second === undefined) return 'it broadcasts from an axis on, and a number of dimensions is not known';
    const from = axis < 0 ? axis + rank : axis;
    if (from < 0 || from > rank) return `its axis is ${axis}, its first input has ${rank} dimensions`;
    const reason = appendOnes(place, rank - from - second);
    if (reason !== undefined) return reason;
  }
  node.attributes.delete('axis');
  node.attributes.delete('broadcast');
  return undefined;
};

/** PRelu: a slope per channel, which is axis 1. */
export const alignSlope: Step = place => {
  const id = place.node.inputs[1];
  const dims = id === undefined ? undefined : place.types.get(id)?.dims;
  const rank = rankOf(place, 0);
  if (dims === undefined || rank === undefined) return 'the shape of its input or slope is not known';
  return dims.length === 1 && dims[0] !== 1 ? appendOnes(place, rank - 2) : undefined;
};

/** Gemm: its third input broadcasts where it can, without saying so. */
export const dropBroadcast: Step = ({ node }) => {
  node.attributes.delete('broadcast');
  return undefined;
};

/** Gives the second input `count` more dimensions of size 1 at its end. */
function appendOnes(place: StepPlace, count: number): string | undefined {
  const id = place.node.inputs[1];
  const dims = id === undefined ? undefined : place.types.get(id)?.dims;
  if (count === 0) return undefined;
  if (count < 0 || !isStatic(dims)) return 'the shape of its second input is not known, or does not fit its axis';
  const shape = [...dims, ...Array.from({ length: count }, () => 1)];
  const wanted = addConstant(place, 'shape', encodeRawTensor(makeTensor('int64', [shape.length], BigInt64Array.from(shape, BigInt))));
  connect(place, 1, addBefore(place, { opType: 'Reshape', inputs: [id, wanted] }));
  return undefined;
}
