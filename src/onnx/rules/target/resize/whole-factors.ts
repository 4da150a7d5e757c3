/** The whole factors by which a Resize enlarges height and width. */
import { getInt, getString } from '../../../ir/attribute.js';
import type { Match } from '../../../rewrite/rule.js';
import { isResizedBy } from './resize-scales.js';

export interface Factors {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

/** The factors of a Resize of a float32 [N, C, H, W] with constant scales or sizes; otherwise the reason why there are none. */
export function findWholeFactors(match: Match): Factors | string {
  const [from, to] = [match.type(match.value('x')).dims, match.type(match.output()).dims];
  const channels = from?.[1];
  if (from?.length !== 4 || typeof channels !== 'number' || match.type(match.value('x')).dtype !== 'float32')
    return 'its input is not a float32 [N, C, H, W] with known channels';
  const [height = 0, width = 0] = [2, 3].map(axis => Number(to?.[axis]) / Number(from[axis]));
  const isWhole = (scale: number): boolean => Number.isInteger(scale) && scale >= 1;
  if (to === undefined || to[1] !== channels || !isWhole(height) || !isWhole(width))
    return 'its factors for height and width are not whole numbers';
  if (to[0] !== from[0] || !isResizedBy(match, [1, 1, height, width]))
    return 'its scales are computed, or differ from the factors of the sizes';
  return { channels, height, width };
}

/** Coordinate and rounding modes that repeat each element for a whole factor. */
const REPEATS = new Set([
  'asymmetric floor',
  'half_pixel round_prefer_floor',
  'half_pixel round_prefer_ceil',
  'half_pixel_symmetric round_prefer_floor',
  'pytorch_half_pixel round_prefer_floor',
  'tf_half_pixel_for_nn floor',
]);

/** The factors of a Resize that repeats each element; otherwise the reason why it does not. */
export function findRepetitions(match: Match): Factors | string {
  return findRepetitionObstacle(match) ?? findWholeFactors(match);
}

/** The reason why a Resize by whole factors does not repeat each element, if any. Before opset 11, nearest-neighbor Resize always does. */
function findRepetitionObstacle({ node, opset }: Match): string | undefined {
  const mode = getString(node, 'mode', 'nearest');
  if (mode !== 'nearest') return `its mode is ${mode}, not nearest`;
  if (opset < 11) return undefined;
  const coordinates = getString(node, 'coordinate_transformation_mode', 'half_pixel');
  const rounding = getString(node, 'nearest_mode', 'round_prefer_floor');
  if (getInt(node, 'antialias', 0) !== 0) return 'antialias is set';
  return REPEATS.has(`${coordinates} ${rounding}`) ? undefined : `${coordinates} with ${rounding} does not repeat each element`;
}
