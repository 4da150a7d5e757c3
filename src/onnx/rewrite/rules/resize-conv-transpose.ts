/** What can stand for a Resize to a multiple by nearest neighbours, where a target has none? A depthwise ConvTranspose of ones. */
import { getInt, getString, int, ints } from '../../ir/attribute.js';
import { newNode, outputOf, patch } from '../patch.js';
import { any, op } from '../pattern.js';
import { decline, type Match, type RewriteRule } from '../rule.js';
import { newFloats } from './numbers.js';
import { areGiven } from './resize-scales.js';

/** Coordinate and rounding modes that repeat each element for a whole multiple. */
const REPEATS = new Set([
  'asymmetric floor',
  'half_pixel round_prefer_floor',
  'half_pixel round_prefer_ceil',
  'half_pixel_symmetric round_prefer_floor',
  'pytorch_half_pixel round_prefer_floor',
  'tf_half_pixel_for_nn floor',
]);

/** The rule `resize-conv-transpose`: kernel and stride are the multiple, so that nothing overlaps and each element is written so many times. */
export const resizeToConvTranspose: RewriteRule = {
  name: 'resize-conv-transpose',
  proof: 'exact',
  proofText: 'With kernel = stride nothing overlaps, and each output element is 1 · x; −0 becomes +0, all else keeps its bits.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const [from, to] = [match.type(match.value('x')).dims, match.type(match.output()).dims];
    const channels = from?.[1];
    if (from?.length !== 4 || typeof channels !== 'number' || match.type(match.value('x')).dtype !== 'float32')
      return decline('its input is not a float32 [N, C, H, W] with known channels', match.node);
    const reason = whyNot(match);
    if (reason !== undefined) return decline(reason, match.node);
    const scales = [2, 3].map(axis => Number(to?.[axis]) / Number(from[axis]));
    if (to === undefined || to[1] !== channels || !scales.every(scale => Number.isInteger(scale) && scale >= 1))
      return decline('height and width do not grow by whole multiples', match.node);
    if (to[0] !== from[0] || !areGiven(match, [1, 1, ...scales]))
      return decline('its scales are not these multiples, or are computed', match.node);
    const [height = 1, width = 1] = scales;
    const ones = newFloats(
      `${match.nameOf(match.output())}_ones`,
      [channels, 1, height, width],
      new Float32Array(channels * height * width).fill(1),
    );
    const node = newNode('ConvTranspose', {
      name: match.node.name,
      inputs: [match.value('x'), ones],
      attributes: { group: int(channels), kernel_shape: ints(scales), strides: ints(scales), pads: ints([0, 0, 0, 0]) },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

function whyNot({ node, opset }: Match): string | undefined {
  const mode = getString(node, 'mode', 'nearest');
  if (mode !== 'nearest') return `its mode is ${mode}, not nearest`;
  if (opset < 11) return undefined;
  const coordinates = getString(node, 'coordinate_transformation_mode', 'half_pixel');
  const rounding = getString(node, 'nearest_mode', 'round_prefer_floor');
  if (getInt(node, 'antialias', 0) !== 0) return 'antialias is set';
  return REPEATS.has(`${coordinates} ${rounding}`) ? undefined : `${coordinates} with ${rounding} does not repeat each element`;
}
