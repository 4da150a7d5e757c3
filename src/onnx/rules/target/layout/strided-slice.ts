/** Rewrite rule `strided-slice`: a Slice with steps other than 1 becomes Gathers or a strided depthwise Conv. */
import { int, ints } from '../../../ir/attribute.js';
import type { Dim } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

import { newFloats, newInts } from '../../shared/constants.js';
import { type AxisBounds, BOUNDS_INPUTS, readSliceBounds } from '../../shared/slice-bounds.js';

type Patched = ReturnType<RuleCode['rewrite']>;

/** Form `gather`. */
export const stridedSliceToGather: RuleCode = stridedSlice('Gather copies the same elements in the same order, bit for bit.', gather);

/** Form `conv`. */
export const stridedSliceToConv: RuleCode = stridedSlice(
  'A strided depthwise Conv with a single one in its kernel copies the elements; −0 becomes +0, all other finite values keep their bits.',
  convolve,
);

type Bounds = ReadonlyMap<number, AxisBounds>;

function stridedSlice(proofText: string, rewrite: (match: Match, bounds: Bounds, dims: readonly Dim[]) => Patched): RuleCode {
  return {
    proofText,
    pattern: op('Slice', { inputs: [any('x')] }),
    rewrite(match) {
      if (match.opset < BOUNDS_INPUTS) return decline(`before opset ${BOUNDS_INPUTS}, Slice has no steps`, match.node);
      const dims = match.type(match.value('x')).dims;
      const bounds = dims && readSliceBounds(match, match.node, dims);
      if (dims === undefined || bounds === undefined) return decline('its bounds are not constant, or a dim is not known', match.node);
      if ([...bounds.values()].every(({ step }) => step === 1)) return decline('its steps are all 1', match.node);
      return rewrite(match, bounds, dims);
    },
  };
}

/** One Gather per axis with a step other than 1, after a Slice for the other axes. */
function gather(match: Match, cuts: Bounds): Patched {
  const base = match.nameOf(match.output());
  const { name } = match.node;
  const add: PatchNode[] = [];
  const plain = [...cuts].filter(([, { step }]) => step === 1);
  let x: Ref = match.value('x');
  if (plain.length > 0) {
    const bounds = [plain.map(([, { start }]) => start), plain.map(([, { start, count }]) => start + count), plain.map(([axis]) => axis)];
    const constants = bounds.map((values, index) => newInts(`${base}_${['starts', 'ends', 'axes'][index]}`, values));
    add.push(newNode('Slice', { name: name && `${name}/slice`, inputs: [x, ...constants] }));
  }
  for (const [axis, { start, step, count }] of cuts) {
    if (step === 1) continue;
    const last = add.at(-1);
    x = last === undefined ? x : outputOf(last);
    const indices = newInts(
      `${base}_places${axis}`,
      Array.from({ length: count }, (_, index) => start + step * index),
    );
    add.push(newNode('Gather', { name: name && `${name}/axis${axis}`, inputs: [x, indices], attributes: { axis: int(axis) } }));
  }
  const last = add.at(-1);
  if (last === undefined) return decline('its steps are all 1', match.node);
  return patch({ add, replace: [[match.output(), outputOf(last)]] });
}

/** A kernel of size `start` + 1 per axis whose last element is one, the others zero. */
function convolve(match: Match, cuts: Bounds, dims: readonly Dim[]): Patched {
  const channels = dims[1];
  if (dims.length !== 4 || typeof channels !== 'number' || match.type(match.value('x')).dtype !== 'float32')
    return decline('its input is not a float32 [N, C, H, W] with known channels', match.node);
  if ([...cuts.keys()].some(axis => axis < 2)) return decline('it slices the batch or the channels', match.node);
  const height = windowOf(match, cuts.get(2), dims[2]);
  const width = windowOf(match, cuts.get(3), dims[3]);
  if ('kind' in height) return height;
  if ('kind' in width) return width;
  const sizes = [height.size, width.size];
  const area = height.size * width.size;
  const kernels = Float32Array.from({ length: channels * area }, (_, index) => (index % area === area - 1 ? 1 : 0));
  const node = newNode('Conv', {
    name: match.node.name,
    inputs: [match.value('x'), newFloats(`${match.nameOf(match.output())}_one`, [channels, 1, ...sizes], kernels)],
    attributes: { group: int(channels), kernel_shape: ints(sizes), strides: ints([height.stride, width.stride]), pads: ints([0, 0, 0, 0]) },
  });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

interface Window {
  readonly size: number;
  readonly stride: number;
}

function windowOf(match: Match, cut: AxisBounds | undefined, length: Dim): Window | Decline {
  if (cut === undefined) return { size: 1, stride: 1 };
  const { start, step, count } = cut;
  if (step < 0) return decline('it has a negative step, which a Conv does not support', match.node);
  const places = Math.floor((Number(length) - (start + 1)) / step) + 1;
  return places === count
    ? { size: start + 1, stride: step }
    : decline('it ends before the last element that the strided Conv would reach', match.node);
}
