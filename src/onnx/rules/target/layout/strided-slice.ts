/** What can stand for a Slice that skips places or goes backwards, which some NPUs refuse? A Gather of the places, or a Conv that strides over them. */
import { int, ints } from '../../../ir/attribute.js';
import type { Dim } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';
import type { StridedSliceForm } from '../../rule-table.js';
import { newFloats, newInts } from '../../shared/numbers.js';
import { BOUNDS_INPUTS, type Cut, readCuts } from '../../shared/slice-bounds.js';

type Patched = ReturnType<RewriteRule['rewrite']>;

/** The rule `strided-slice` in one of its forms. */
export function stridedSliceAs(form: StridedSliceForm): RewriteRule {
  return {
    name: 'strided-slice',
    proof: 'exact',
    proofText:
      form === 'gather'
        ? 'Gather copies the same places in the same order, bit for bit.'
        : 'A depthwise Conv of zeros and a one, which strides over the places, copies them; −0 becomes +0, all else finite keeps its bits.',
    pattern: op('Slice', { inputs: [any('x')] }),
    rewrite(match) {
      if (match.opset < BOUNDS_INPUTS) return decline(`before opset ${BOUNDS_INPUTS} Slice has no steps`, match.node);
      const dims = match.type(match.value('x')).dims;
      const cuts = dims && readCuts(match, match.node, dims);
      if (dims === undefined || cuts === undefined) return decline('its bounds are not constant, or a size is not known', match.node);
      if ([...cuts.values()].every(({ step }) => step === 1)) return decline('its steps are all 1', match.node);
      return form === 'gather' ? gather(match, cuts) : convolve(match, cuts, dims);
    },
  };
}

/** One Gather per axis; what goes by steps of 1 stays a Slice, before them. */
function gather(match: Match, cuts: ReadonlyMap<number, Cut>): Patched {
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
    const places = newInts(
      `${base}_places${axis}`,
      Array.from({ length: count }, (_, index) => start + step * index),
    );
    add.push(newNode('Gather', { name: name && `${name}/axis${axis}`, inputs: [x, places], attributes: { axis: int(axis) } }));
  }
  const last = add.at(-1);
  if (last === undefined) return decline('its steps are all 1', match.node);
  return patch({ add, replace: [[match.output(), outputOf(last)]] });
}

/** A kernel that reaches from each place it stands on to `start` further on, where its one is. */
function convolve(match: Match, cuts: ReadonlyMap<number, Cut>, dims: readonly Dim[]): Patched {
  const channels = dims[1];
  if (dims.length !== 4 || typeof channels !== 'number' || match.type(match.value('x')).dtype !== 'float32')
    return decline('its input is not a float32 [N, C, H, W] with known channels', match.node);
  if ([...cuts.keys()].some(axis => axis < 2)) return decline('it cuts batch or channels', match.node);
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

function windowOf(match: Match, cut: Cut | undefined, length: Dim): Window | Decline {
  if (cut === undefined) return { size: 1, stride: 1 };
  const { start, step, count } = cut;
  if (step < 0) return decline('it goes backwards: a Conv does not', match.node);
  const places = Math.floor((Number(length) - (start + 1)) / step) + 1;
  return places === count ? { size: start + 1, stride: step } : decline('it ends before the last place that it could take', match.node);
}
