/** Rewrite rule `large-pool`: a pool over a whole feature map that is larger than an NPU supports becomes two pools in sequence. */
import { findInts, getInt, getString, ints } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

/** The largest window of a pool on a DPU, in elements (vai_q_onnx SplitLargeKernelPool). */
const MAX_WINDOW = 512;

/** For pools over all of H and W of [N, C, H, W]: the window of the first pool divides both, the second pool covers the result. */
export const splitLargePool: RuleCode = {
  proofText:
    'The mean of the means of equal windows is the mean of all elements, and the maximum of maxima is the maximum; means round twice.',
  pattern: op(['GlobalAveragePool', 'GlobalMaxPool', 'AveragePool', 'MaxPool'], { inputs: [any('x')] }),
  rewrite(match) {
    const reason = declineReason(match);
    if (reason !== undefined) return decline(reason, match.node);
    const [, , height = 0, width = 0] = (match.type(match.value('x')).dims ?? []).map(Number);
    const [first, second] = [divide(height), divide(width)];
    const window = [first, second];
    const rest = [height / first, width / second];
    if ([window, rest].some(([h = 0, w = 0]) => h * w > MAX_WINDOW))
      return decline(`${height}×${width} does not divide into two windows of at most ${MAX_WINDOW} elements`, match.node);
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

function declineReason(match: Match): string | undefined {
  const { node } = match;
  const dims = match.type(match.value('x')).dims;
  const [, , height, width] = dims ?? [];
  if (dims?.length !== 4 || typeof height !== 'number' || typeof width !== 'number') return 'height or width of its input is not known';
  if (height * width <= MAX_WINDOW) return `its window of ${height}×${width} has no more than ${MAX_WINDOW} elements`;
  if (node.opType.startsWith('Global')) return undefined;
  const kernel = findInts(node, 'kernel_shape') ?? [];
  if (kernel[0] !== height || kernel[1] !== width) return `its window of ${kernel.join('×')} does not cover the whole input`;
  if ((findInts(node, 'pads') ?? []).some(pad => pad !== 0) || getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return 'it has pads';
  if ((findInts(node, 'dilations') ?? []).some(dilation => dilation !== 1)) return 'it has dilations';
  if (getInt(node, 'ceil_mode', 0) !== 0) return 'ceil_mode is set';
  const [, indices] = node.outputs;
  return indices !== undefined && match.useCount(indices) > 0 ? 'its second output, the indices, is read' : undefined;
}

/** The divisor of `size` that is nearest to its square root; the larger one of two. */
function divide(size: number): number {
  const root = Math.sqrt(size);
  let best = size;
  for (let divisor = 1; divisor <= size; divisor++)
    if (size % divisor === 0 && Math.abs(divisor - root) <= Math.abs(best - root)) best = divisor;
  return best;
}
