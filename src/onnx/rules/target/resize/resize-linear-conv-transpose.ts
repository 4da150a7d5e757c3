/** Rewrite rule `resize-linear-conv-transpose`: bilinear Resize by whole factors becomes an edge Pad and a depthwise ConvTranspose with a triangular kernel. */
import { getInt, getString, int, ints, string } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { newFloats, newInts } from '../../shared/constants.js';
import { findWholeFactors } from './whole-factors.js';

/** From this opset on, Resize has coordinate modes and Pad takes its pads as an input. */
const SINCE = 11;

/**
 * For half_pixel coordinates, output position p lies at (p + ½)/s − ½, so each input element has weight 1 − |d|/s at distance d from its center: a kernel of
 * size 2s (2s − 1 for odd s) that is the same for every element (4×4 of ¼, ¾ for s = 2). At the border, Resize repeats the edge; one repeated row and
 * column around the input have the same effect, and their own outputs are cut.
 */
export const resizeLinearToConvTranspose: RuleCode = {
  proofText:
    'For a whole factor the weights of linear interpolation are periodic, which is a transposed convolution with a triangular kernel; four products are added in another order.',
  pattern: op('Resize', { inputs: [any('x')] }),
  rewrite(match) {
    const reason = declineReason(match);
    if (reason !== undefined) return decline(reason, match.node);
    const found = findWholeFactors(match);
    if (typeof found === 'string') return decline(found, match.node);
    const scales = [found.height, found.width];
    if (scales.every(scale => scale === 1)) return decline('its factors are 1', match.node);
    if (coordinatesOf(match) === 'pytorch_half_pixel' && hasOutputOfSizeOne(match))
      return decline('pytorch_half_pixel maps an output of size 1 to coordinate 0', match.node);
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

function declineReason(match: Match): string | undefined {
  const mode = getString(match.node, 'mode', 'nearest');
  if (match.opset < SINCE) return `half_pixel coordinates need opset ${SINCE}; the model has ${match.opset}`;
  if (mode !== 'linear') return `its mode is ${mode}, not linear`;
  if (!['half_pixel', 'pytorch_half_pixel', 'half_pixel_symmetric'].includes(coordinatesOf(match)))
    return `its coordinates are ${coordinatesOf(match)}, not half_pixel: the weights are not periodic, or the border differs`;
  return getInt(match.node, 'antialias', 0) === 0 ? undefined : 'antialias is set';
}

const hasOutputOfSizeOne = (match: Match): boolean => match.type(match.output()).dims?.slice(2).includes(1) ?? false;

/** 1 − |d|/s at the distances d = ±½, ±1½ … (0, ±1 … for odd s) below s; a single 1 for s = 1. */
function triangle(scale: number): readonly number[] {
  const length = scale % 2 === 0 ? 2 * scale : 2 * scale - 1;
  return Array.from({ length }, (_, index) => 1 - Math.abs(index - (length - 1) / 2) / scale);
}
