/** What can stand for a pool whose window is larger than an NPU's? Two pools in a row. */
import { findInts, getInt, getString, ints } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';

/** DPUs pool over at most so many elements (vai_q_onnx SplitLargeKernelPool). */
const MOST = 512;

/** The rule `large-pool`, for pools over the whole of a [N, C, H, W]: the first pool's window divides height and width, the second takes the rest. */
export const splitLargePool: RewriteRule = {
  name: 'large-pool',
  proof: 'rounding',
  proofText: 'The mean of equal windows’ means is the mean of all, and the largest of the largest is the largest; means round twice.',
  pattern: op(['GlobalAveragePool', 'GlobalMaxPool', 'AveragePool', 'MaxPool'], { inputs: [any('x')] }),
  rewrite(match) {
    const reason = whyNot(match);
    if (reason !== undefined) return decline(reason, match.node);
    const [, , height = 0, width = 0] = (match.type(match.value('x')).dims ?? []).map(Number);
    const [first, second] = [divide(height), divide(width)];
    const window = [first, second];
    const rest = [height / first, width / second];
    if ([window, rest].some(([h = 0, w = 0]) => h * w > MOST))
      return decline(`${height}×${width} does not divide into two windows of at most ${MOST}`, match.node);
    const opType = match.node.opType.includes('Max') ? 'MaxPool' : 'AveragePool';
    const { name } = match.node;
    const pool = (what: string, x: Parameters<typeof newNode>[1]['inputs'][number], shape: readonly number[]) =>
      newNode(opType, {
        name: what,
        inputs: [x],
        attributes: { kernel_shape: ints(shape), strides: ints(shape), pads: ints([0, 0, 0, 0]) },
      });
    const before = pool(name && `${name}/first`, match.value('x'), window);
    const after = pool(name, outputOf(before), rest);
    return patch({ add: [before, after], replace: [[match.output(), outputOf(after)]] });
  },
};

function whyNot(match: Match): string | undefined {
  const { node } = match;
  const dims = match.type(match.value('x')).dims;
  const [, , height, width] = dims ?? [];
  if (dims?.length !== 4 || typeof height !== 'number' || typeof width !== 'number') return 'height or width of its input is not known';
  if (height * width <= MOST) return `its window of ${height}×${width} is not over ${MOST}`;
  if (node.opType.startsWith('Global')) return undefined;
  const kernel = findInts(node, 'kernel_shape') ?? [];
  if (kernel[0] !== height || kernel[1] !== width) return `its window of ${kernel.join('×')} is not the whole input`;
  if ((findInts(node, 'pads') ?? []).some(pad => pad !== 0) || getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return 'it pads';
  if ((findInts(node, 'dilations') ?? []).some(dilation => dilation !== 1)) return 'it is dilated';
  if (getInt(node, 'ceil_mode', 0) !== 0) return 'ceil_mode is set';
  const [, indices] = node.outputs;
  return indices !== undefined && match.useCount(indices) > 0 ? 'its second output, the indices, is read' : undefined;
}

/** The divisor of `size` nearest its square root, the larger of two. */
function divide(size: number): number {
  const root = Math.sqrt(size);
  let best = size;
  for (let divisor = 1; divisor <= size; divisor++)
    if (size % divisor === 0 && Math.abs(divisor - root) <= Math.abs(best - root)) best = divisor;
  return best;
}
