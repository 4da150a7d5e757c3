/** Rewrite rule `maxpool-1x1`: a MaxPool with a 1×1 kernel and stride 2 in four equivalent or approximate forms. */
import { getDefined } from '../../../../base/invariant.js';
import { encodeRawTensor } from '../../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../../tensor/tensor.js';
import { findInts, getInt, getString, int, ints } from '../../../ir/attribute.js';
import { newConstant, newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats, newInts } from '../../shared/constants.js';
import { findDequantizer } from '../../shared/requantize.js';

interface Form {
  readonly proofText: string;
  /** The new nodes; the last one replaces the pool. */
  readonly build: (match: Match) => readonly PatchNode[] | Decline;
}

/** From this opset on, Slice has steps. */
const SLICE_WITH_STEPS = 10;

/**
 * All forms. The node and output names and the shape of the output, ⌊(H − 1)/2⌋ + 1 and ⌊(W − 1)/2⌋ + 1, stay the same in each form.
 */
export const MAXPOOL_1X1 = {
  '3x3': maxPool1x1({
    proofText: 'Kernel 3×3 with pads 1 takes the maximum of nine neighbors instead of one element: most values increase.',
    build: match => {
      const attributes = new Map([
        ...match.node.attributes,
        ['kernel_shape', ints([3, 3])] as const,
        ['pads', ints([1, 1, 1, 1])] as const,
      ]);
      attributes.delete('auto_pad');
      return [newNode('MaxPool', { name: match.node.name, inputs: [match.value('x')], attributes })];
    },
  }),
  depthwise: maxPool1x1({
    proofText: 'A depthwise 1×1 Conv of ones with stride 2 copies the same elements; −0 becomes +0, all other values keep their bits.',
    build: match => buildDepthwise(match, 1),
  }),
  delta: maxPool1x1({
    proofText: 'A depthwise 3×3 Conv with a one in the center, pads 1 and stride 2 copies the same finite elements; −0 becomes +0.',
    build: match => buildDepthwise(match, 3),
  }),
  slice: maxPool1x1({ proofText: 'A Slice with steps 2 takes the same elements, bit for bit.', build: buildSlice }),
};

function maxPool1x1({ proofText, build }: Form): RuleCode {
  return {
    proofText,
    pattern: op('MaxPool', { inputs: [any('x')] }),
    rewrite(match) {
      const reason = declineReason(match);
      if (reason !== undefined) return decline(reason, match.node);
      const built = build(match);
      if ('kind' in built) return built;
      const pool = getDefined(built.at(-1), 'the node that replaces the pool');
      return patch({ add: built, replace: [[match.output(), outputOf(pool)]] });
    },
  };
}

function declineReason({ node, useCount }: Match): string | undefined {
  const kernel = findInts(node, 'kernel_shape') ?? [];
  const [, indices] = node.outputs;
  if (kernel.length !== 2 || kernel.some(size => size !== 1)) return `its kernel is [${kernel.join(', ')}], not [1, 1]`;
  const strides = findInts(node, 'strides') ?? [1, 1];
  if (strides.some(stride => stride !== 2)) return `its strides are [${strides.join(', ')}], not [2, 2]`;
  if ((findInts(node, 'pads') ?? []).some(pad => pad !== 0)) return 'it has pads';
  if (getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return 'it uses auto_pad';
  if (getInt(node, 'ceil_mode', 0) !== 0) return 'ceil_mode is set';
  if (indices !== undefined && useCount(indices) > 0) return 'its second output, the indices, is read';
  return undefined;
}

/** A depthwise Conv with a square kernel of `size` and a one in its center. */
function buildDepthwise(match: Match, size: 1 | 3): readonly PatchNode[] | Decline {
  const { dtype, dims } = match.type(match.value('x'));
  const channels = dims?.[1];
  if (dtype !== 'float32') return decline(`its dtype is ${dtype ?? 'not known'}; the depthwise form supports float32 only`, match.node);
  if (typeof channels !== 'number') return decline('the number of its channels is not known', match.node);
  const [area, pad] = [size * size, (size - 1) / 2];
  const base = `${match.nameOf(match.output())}_ones`;
  const shape = [channels, 1, size, size];
  const kernels = (one: number): Float32Array =>
    Float32Array.from({ length: channels * area }, (_, index) => (index % area === (area - 1) / 2 ? one : 0));
  const isQuantized = findDequantizer(match, match.value('x')) !== undefined;
  const quantized = isQuantized ? quantizedOnes(base, shape, kernels) : undefined;
  const conv = newNode('Conv', {
    name: match.node.name,
    inputs: [match.value('x'), quantized === undefined ? newFloats(base, shape, kernels(1)) : outputOf(quantized)],
    attributes: { group: int(channels), kernel_shape: ints([size, size]), pads: ints([pad, pad, pad, pad]), strides: ints([2, 2]) },
  });
  return quantized === undefined ? [conv] : [quantized, conv];
}

/** Between quantized values, the ones are 64 · 2⁻⁶: a power-of-two scale, as the strictest targets require. */
function quantizedOnes(name: string, shape: readonly number[], kernels: (one: number) => Float32Array): PatchNode {
  const ones = encodeRawTensor(makeTensor('int8', shape, Int8Array.from(kernels(64))));
  const zero = encodeRawTensor(makeTensor('int8', [], Int8Array.of(0)));
  return newNode('DequantizeLinear', {
    name: `${name}/dequantize`,
    inputs: [newConstant(`${name}_quantized`, ones), newFloats(`${name}_scale`, [], [2 ** -6]), newConstant(`${name}_zero`, zero)],
  });
}

function buildSlice(match: Match): readonly PatchNode[] | Decline {
  if (match.opset < SLICE_WITH_STEPS)
    return decline(`a Slice with steps needs opset ${SLICE_WITH_STEPS}; the model has ${match.opset}`, match.node);
  const name = match.nameOf(match.output());
  const constant = (what: string, values: readonly bigint[]) => newInts(`${name}_${what}`, values);
  const inputs = [constant('starts', [0n, 0n]), constant('ends', [END, END]), constant('axes', [2n, 3n]), constant('steps', [2n, 2n])];
  return [newNode('Slice', { name: match.node.name, inputs: [match.value('x'), ...inputs] })];
}

/** The end bound of a Slice up to the last element: the largest int64. */
const END = (1n << 63n) - 1n;
