/** Rewrite rule `resize-scales`: Resize with constant scales for four axes, [1, 1, h, w], without sizes and roi. */
import { findInts, getString } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findFloats } from '../../../shape-inference/context/constant-elements.js';
import { newFloats } from '../../shared/constants.js';

/** From opset 11 on, Resize has sizes, roi and coordinate modes; from opset 13 on, the roi may be omitted. */
const WITH_SIZES = 11;
const OPTIONAL_ROI = 13;

/** If scale × size is exactly the output size, coordinates computed from scales equal those computed from sizes. */
export const resizeByScales: RuleCode = {
  proofText: 'Scales that are exact float32 quotients of the sizes give the same coordinates as the sizes.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    if (match.opset < WITH_SIZES) return decline(`before opset ${WITH_SIZES}, Resize has scales only`, match.node);
    const from = match.type(match.value('x')).dims;
    const to = match.type(match.output()).dims;
    if (from?.length !== 4 || to?.length !== 4) return decline('the rank of its input is not known to be 4', match.node);
    if (getString(match.node, 'coordinate_transformation_mode', 'half_pixel') === 'tf_crop_and_resize')
      return decline('tf_crop_and_resize needs its roi', match.node);
    const scales = from.map((size, axis) => scaleOf(size, to[axis]));
    if (!scales.every(scale => scale !== undefined)) return decline('an axis has no exact scale, or a dim is not known', match.node);
    if (!isResizedBy(match, scales)) return decline('its scales are computed, or are not the quotients of the sizes', match.node);
    if (isCanonical(match, scales)) return decline('it already has constant scales for four axes and no roi', match.node);
    const attributes = new Map([...match.node.attributes].filter(([name]) => name !== 'axes' && name !== 'keep_aspect_ratio_policy'));
    const base = match.nameOf(match.output());
    const roi = match.opset < OPTIONAL_ROI ? newFloats(`${base}_roi`, [0], []) : undefined;
    const inputs = [match.value('x'), roi, newFloats(`${base}_scales`, [4], scales)];
    const node = newNode('Resize', { name: match.node.name, inputs, attributes });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

/** The quotient, if float32 represents it exactly. */
function scaleOf(from: unknown, to: unknown): number | undefined {
  if (typeof from !== 'number' || typeof to !== 'number') return from !== undefined && from === to ? 1 : undefined;
  const scale = Math.fround(to / from);
  return from > 0 && scale * from === to ? scale : undefined;
}

/**
 * Whether the Resize is given sizes, or constant scales equal to `scales`. A scale of 1.3 from 4 to 5 elements gives other coordinates than 1.25. If the sizes
 * are bounds (keep_aspect_ratio_policy), one scale applies to all axes and the sizes are rounded, so the quotients differ.
 */
export function isResizedBy(match: Match, scales: readonly number[]): boolean {
  const [, second, third, sizes] = match.node.inputs;
  if (match.opset >= WITH_SIZES && sizes !== undefined) return getString(match.node, 'keep_aspect_ratio_policy', 'stretch') === 'stretch';
  const given = findFloats(match.constantOf(match.opset < WITH_SIZES ? second : third));
  const axes = findInts(match.node, 'axes')?.map(axis => (axis < 0 ? axis + scales.length : axis)) ?? scales.map((_, axis) => axis);
  return given?.length === axes.length && axes.every((axis, index) => given[index] === scales[axis]);
}

function isCanonical(match: Match, scales: readonly number[]): boolean {
  const [, roi, given, sizes] = match.node.inputs;
  const now = findFloats(match.constantOf(given));
  const noRoi = roi === undefined || (match.opset < OPTIONAL_ROI && match.constantOf(roi)?.dims[0] === 0);
  return (
    noRoi &&
    sizes === undefined &&
    findInts(match.node, 'axes') === undefined &&
    now?.length === 4 &&
    now.every((scale, axis) => scale === scales[axis])
  );
}
