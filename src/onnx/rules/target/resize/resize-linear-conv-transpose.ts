/** What can stand for a bilinear Resize to a multiple, where a target has none? A depthwise ConvTranspose whose kernel is the triangle, over an input whose edge is repeated. */
import { getInt, getString, int, ints, string } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';
import { newFloats, newInts } from '../../shared/numbers.js';
import { findMultiples } from './whole-multiples.js';

/** Resize has coordinate modes, and Pad its pads as an input, from opset 11. */
const SINCE = 11;

/**
 * The rule `resize-linear-conv-transpose`, for half_pixel coordinates: places s·i … lie at (p + ½)/s − ½, so that each input element weighs
 * 1 − |d|/s at distance d from its middle: a kernel of 2s places (2s − 1 for odd s), the same for every element (4×4 of ¼, ¾ for s = 2).
 * At the border Resize repeats the edge; one repeated row and column around the input, whose own outputs are cut, do the same.
 */
export const resizeLinearToConvTranspose: RewriteRule = {
  name: 'resize-linear-conv-transpose',
  proof: 'rounding',
  proofText:
    'For a whole multiple the weights of linear interpolation repeat: a transposed convolution by the triangle; four products are added in another order.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const reason = whyNot(match);
    if (reason !== undefined) return decline(reason, match.node);
    const found = findMultiples(match);
    if (typeof found === 'string') return decline(found, match.node);
    const scales = [found.height, found.width];
    if (scales.every(scale => scale === 1)) return decline('it changes no size', match.node);
    if (coordinatesOf(match) === 'pytorch_half_pixel' && isOneLong(match))
      return decline('pytorch_half_pixel puts a single place at 0', match.node);
    const kernels = scales.map(triangle);
    const sizes = kernels.map(kernel => kernel.length);
    const { name } = match.node;
    const base = match.nameOf(match.output());
    const [grow = 0, widen = 0] = scales.map(scale => (scale === 1 ? 0 : 1));
    const padded = newNode('Pad', {
      name: name && `${name}/edge`,
      inputs: [match.value('x'), newInts(`${base}_pads`, [0, 0, grow, widen, 0, 0, grow, widen])],
      attributes: { mode: string('edge') },
    });
    const cut = scales.map((scale, axis) => (scale === 1 ? 0 : (scale + (sizes[axis] ?? 0)) / 2));
    const [rows = [], columns = []] = kernels;
    const window = rows.flatMap(row => columns.map(column => row * column));
    const weights = Float32Array.from({ length: found.channels * window.length }, (_, index) => window[index % window.length] ?? 0);
    const node = newNode('ConvTranspose', {
      name,
      inputs: [outputOf(padded), newFloats(`${base}_weights`, [found.channels, 1, ...sizes], weights)],
      attributes: { group: int(found.channels), kernel_shape: ints(sizes), strides: ints(scales), pads: ints([...cut, ...cut]) },
    });
    return patch({ add: [padded, node], replace: [[match.output(), outputOf(node)]] });
  },
};

const coordinatesOf = ({ node }: Match): string => getString(node, 'coordinate_transformation_mode', 'half_pixel');

function whyNot(match: Match): string | undefined {
  const mode = getString(match.node, 'mode', 'nearest');
  if (match.opset < SINCE) return `Resize has half_pixel coordinates from opset ${SINCE}`;
  if (mode !== 'linear') return `its mode is ${mode}, not linear`;
  if (!['half_pixel', 'pytorch_half_pixel', 'half_pixel_symmetric'].includes(coordinatesOf(match)))
    return `its coordinates are ${coordinatesOf(match)}, not half_pixel: the weights do not repeat, or the border is another`;
  return getInt(match.node, 'antialias', 0) === 0 ? undefined : 'antialias is set';
}

const isOneLong = (match: Match): boolean => match.type(match.output()).dims?.slice(2).includes(1) ?? false;

/** 1 − |d|/s at the distances d = ±½, ±1½ … (0, ±1 … for odd s) below s; a single 1 where nothing grows. */
function triangle(scale: number): readonly number[] {
  const length = scale % 2 === 0 ? 2 * scale : 2 * scale - 1;
  return Array.from({ length }, (_, index) => 1 - Math.abs(index - (length - 1) / 2) / scale);
}
