/** Simplify rule `slice-channels`: a Gather from a channel shuffle (ShuffleNet) becomes a Slice with steps. */
import { findInts, getInt } from '../../ir/attribute.js';
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, constant, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';
import { newInts } from '../shared/constants.js';

/** From this opset on, Slice has steps. */
const SLICE_WITH_STEPS = 10;

export const sliceChannels: RewriteRule = {
  name: 'slice-channels',
  proof: 'exact',
  proofText:
    'Channel c of [1, C, H, W] is (⌊c/k⌋, c mod k) of [C/k, k, H·W]: part j of k after the transposition has the channels j, j + k, j + 2k …',
  pattern: op('Gather', { inputs: [any('shuffled'), constant('index')] }),
  rewrite(match) {
    if (match.opset < SLICE_WITH_STEPS)
      return decline(`a Slice with steps needs opset ${SLICE_WITH_STEPS}; the model has ${match.opset}`, match.node);
    const shuffle = findShuffle(match);
    if (shuffle === undefined) return decline('its input is not a channel shuffle', match.node);
    const { x, parts, nodes } = shuffle;
    const index = match.constant('index').dims.length === 0 ? findIntegers(match.constant('index'))?.[0] : undefined;
    if (index === undefined || index < -parts || index >= parts)
      return decline('its index is not a single constant within the parts', match.node);
    const base = match.nameOf(match.output());
    const bound = (what: string, value: number | bigint) => newInts(`${base}_${what}`, [value]);
    const start = index < 0 ? index + parts : index;
    const inputs = [x, bound('start', start), bound('end', (1n << 63n) - 1n), bound('axis', 1), bound('step', parts)];
    const slice = newNode('Slice', { name: match.node.name, inputs });
    return patch({ add: [slice], replace: [[match.output(), outputOf(slice)]], also: nodes });
  },
};

interface Shuffle {
  readonly x: ValueId;
  readonly parts: number;
  readonly nodes: readonly Node[];
}

/** [1, C, H, W] → [C/k, k, H·W] → [k, C/k, H·W] → [k, 1, C/k, H, W], gathered along axis 0. */
function findShuffle(match: Match): Shuffle | undefined {
  const joined = match.producerOf(match.value('shuffled'), 'Reshape');
  const moved = match.producerOf(joined?.inputs[0], 'Transpose');
  const divided = match.producerOf(moved?.inputs[0], 'Reshape');
  const x = divided?.inputs[0];
  if (joined === undefined || moved === undefined || divided === undefined || x === undefined) return undefined;
  const [batch, channels, height, width] = sizesOf(match, x, 4) ?? [];
  const [groups, parts, area] = sizesOf(match, divided.outputs[0], 3) ?? [];
  const shuffled = sizesOf(match, joined.outputs[0], 5);
  if (batch !== 1 || channels === undefined || parts === undefined || groups === undefined || height === undefined || width === undefined)
    return undefined;
  const fits = groups * parts === channels && area === height * width && getInt(match.node, 'axis', 0) === 0;
  if (!fits || findInts(moved, 'perm')?.join() !== '1,0,2' || shuffled?.join() !== [parts, 1, groups, height, width].join())
    return undefined;
  return { x, parts, nodes: [joined, moved, divided] };
}

function sizesOf(match: Match, value: ValueId | undefined, rank: number): readonly number[] | undefined {
  const dims = value === undefined ? undefined : match.type(value).dims;
  return dims?.length === rank && dims.every(dim => typeof dim === 'number') ? dims.map(Number) : undefined;
}
