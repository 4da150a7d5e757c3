/** RoIAlign from a feature pyramid: assigns each RoI to a level and pools it there. */
import { type Boxes, boxAreas, countBoxes } from './boxes.js';
import type { FeatureMap, RoiAlignOptions } from './roi-align.js';
import { roiAlignByKernel } from './roi-align-kernel.js';

/** RoIs of canonicalScale² pixels are pooled from level `canonicalLevel`; level k has stride 2ᵏ. */
export interface LevelAssignment {
  readonly canonicalScale: number;
  readonly canonicalLevel: number;
}

const { fround } = Math;

/** Added before rounding down, so that an RoI of exactly the canonical size stays on its level. */
const EPSILON = fround(1e-6);

/**
 * Per box, the index of its level (finest first, with stride 2^finest): floor(canonicalLevel + log2(√area / canonicalScale) + 1e-6) − finest, in
 * float32, clipped to the existing levels.
 * @see Lin et al., Feature Pyramid Networks, equation 1; torchvision `LevelMapper`.
 */
export function assignLevels(boxes: Boxes, assignment: LevelAssignment, finest: number, levels: number): Int32Array {
  return Int32Array.from(boxAreas(boxes), area => {
    const octaves = fround(Math.log2(fround(fround(Math.sqrt(area)) / assignment.canonicalScale)));
    const level = Math.floor(fround(fround(assignment.canonicalLevel + octaves) + EPSILON));
    return Math.min(Math.max(level - finest, 0), levels - 1);
  });
}

/**
 * Pools every box from its level of the pyramid.
 *
 * @param maps finest first, with equal channels; each has half the scale of the previous one.
 * @returns float32 [boxes, channels, size, size], in the order of `boxes`.
 * @see torchvision `MultiScaleRoIAlign`.
 */
export function poolFromPyramid(
  maps: readonly [FeatureMap, ...FeatureMap[]],
  boxes: Boxes,
  options: RoiAlignOptions & LevelAssignment,
): Float32Array {
  const [first] = maps;
  const pooled = new Float32Array(countBoxes(boxes) * first.channels * options.size * options.size);
  const levels = assignLevels(boxes, options, Math.round(-Math.log2(first.scale)), maps.length);
  maps.forEach((map, level) => {
    const members: number[] = [];
    for (let i = 0; i < levels.length; i++) if (levels[i] === level) members.push(i);
    if (members.length > 0) roiAlignByKernel(pooled, map, boxes, members, options);
  });
  return pooled;
}
