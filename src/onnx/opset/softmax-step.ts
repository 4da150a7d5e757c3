/** Conversion step of Softmax, LogSoftmax and Hardmax from flattened trailing axes to a single axis. */
import { getInt, int } from '../ir/attribute.js';
import { addBefore, rankOf, type Step } from './step.js';

/** Softmax, LogSoftmax and Hardmax 13. Before, the input was flattened to a matrix at `axis` (default 1), and the operator applied to its rows. At the last axis both are the same. */
export const softmaxOverOneAxis: Step = place => {
  const { node } = place;
  const axis = getInt(node, 'axis', 1);
  const rank = rankOf(place);
  if (axis === -1 || (rank !== undefined && (axis === rank - 1 || axis + rank === rank - 1))) {
    node.attributes.set('axis', int(-1));
    return undefined;
  }
  if (axis < 0 && rank === undefined) return `its axis is ${axis}, and the rank of its input is not known`;
  const [x] = node.inputs;
  const matrix = addBefore(place, { opType: 'Flatten', inputs: [x], attributes: { axis: int(axis < 0 ? axis + (rank ?? 0) : axis) } });
  const rows = addBefore(place, { opType: node.opType, name: node.name, inputs: [matrix], attributes: { axis: int(-1) } });
  const shape = addBefore(place, { opType: 'Shape', inputs: [x] });
  node.opType = 'Reshape';
  node.name = node.name === '' ? '' : `${node.name}/reshape`;
  node.attributes.clear();
  node.inputs = [rows, shape];
  return undefined;
};
