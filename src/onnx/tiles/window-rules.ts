/** Rules of operators with windows: Conv, ConvTranspose, MaxPool, AveragePool. */
import { invariant } from '../../base/invariant.js';
import { findInts, getInt } from '../ir/attribute.js';
import type { Node } from '../ir/model.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { both, hasFixedPads, type NodeOnTiles, type Refusal, refuse, type TileRule } from './node-facts.js';
import { type Pair, type TileFacts, timesRatio } from './tile-facts.js';
import { type AxisWindow, slideOver } from './window.js';

export const convOnTiles: TileRule = (on, x) => {
  const weight = on.constant(1);
  if (weight === undefined) return refuse('its weight is not constant');
  const [outputs = 0, , ...kernel] = weight.dims;
  if (kernel.length !== 2) return refuse(`it has ${kernel.length} spatial axes, expected 2`);
  const slid = slide(on, x, findInts(on.node, 'kernel_shape') ?? kernel);
  if (!Array.isArray(slid)) return slid;
  const [facts] = slid;
  const isPoint = kernel.every(size => size === 1);
  return [{ ...facts, channels: outputs, gap: isPoint && on.node.inputs[2] === undefined ? facts.gap : 'unknown', sign: 'any' }];
};

export const maxPoolOnTiles: TileRule = (on, x) => {
  if (on.node.outputs[1] !== undefined) return refuse('its output of indices counts positions of the canvas');
  if (hasPads(on.node) && x.sign !== 'nonnegative')
    return refuse('its padding is smaller than every value, the positions between tiles are 0, and its input may be negative');
  const slid = slide(on, x, findInts(on.node, 'kernel_shape') ?? []);
  return Array.isArray(slid) ? slid.map(facts => ({ ...facts, sign: x.sign })) : slid;
};

export const averagePoolOnTiles: TileRule = (on, x) => {
  if (hasPads(on.node)) return refuse('an average over padding divides by another count at the edge of the canvas than between tiles');
  const slid = slide(on, x, findInts(on.node, 'kernel_shape') ?? []);
  return Array.isArray(slid) ? slid.map(facts => ({ ...facts, sign: x.sign })) : slid;
};

/** With kernel = stride and no pads, every output position comes from one input position. */
export const convTransposeOnTiles: TileRule = (on, x) => {
  const { node } = on;
  const weight = on.constant(1);
  if (weight === undefined) return refuse('its weight is not constant');
  const [, perGroup = 0, ...kernel] = weight.dims;
  const strides = findInts(node, 'strides') ?? [1, 1];
  const plain = [findInts(node, 'pads'), findInts(node, 'output_padding')].every(pads => pads?.every(pad => pad === 0) ?? true);
  const dense = (findInts(node, 'dilations') ?? [1]).every(dilation => dilation === 1);
  if (kernel.length !== 2 || !plain || !dense || !hasFixedPads(node) || node.attributes.has('output_shape'))
    return refuse('only a ConvTranspose without pads, output padding, dilation and output shape is known to keep tiles apart');
  if (kernel.some((size, axis) => size !== strides[axis]))
    return refuse(`its kernel ${kernel.join(' × ')} is not its stride ${strides.join(' × ')}, so that the results of two tiles overlap`);
  const scaled = scaleUp(
    x,
    both(axis => kernel[axis] ?? 1),
  );
  const channels = perGroup * getInt(node, 'group', 1);
  return [{ ...scaled, channels, gap: node.inputs[2] === undefined ? x.gap : 'unknown', sign: 'any' }];
};

/** Facts of a value whose positions each become `by` positions. */
export function scaleUp(x: TileFacts, by: Pair<number>): TileFacts {
  const { scale } = x;
  const scaled = scale === 'cells' ? scale : both(axis => timesRatio(scale[axis], { up: by[axis], down: 1 }));
  return { ...x, tile: both(axis => x.tile[axis] * by[axis]), scale: scaled };
}

const hasPads = (node: Node): boolean => findInts(node, 'pads')?.some(pad => pad !== 0) ?? false;

/** Facts after a window operator, with the channels of its input. Clears the gaps of the input where a window leaves the tile. */
function slide(on: NodeOnTiles, x: TileFacts, kernel: readonly number[]): [TileFacts] | Refusal {
  const { node } = on;
  if (x.layout === 'flat' || x.scale === 'cells') return refuse('its input has no spatial axes');
  const { scale } = x;
  if (!hasFixedPads(node)) return refuse('its pads follow from the size of its input (auto_pad SAME); state them as numbers');
  if (getInt(node, 'ceil_mode', 0) !== 0) return refuse('it rounds its output size up (ceil_mode)');
  const pads = findInts(node, 'pads') ?? [0, 0, 0, 0];
  if (pads.some(pad => pad < 0)) return refuse('it has negative pads');
  const windows = both(axis => slideOver(x.tile[axis], windowOf(node, kernel, pads, axis)));
  invariant(
    windows.every(({ tile }) => tile >= 1),
    'shape inference refuses a kernel larger than its input',
  );
  const what = describeNode(node, on.graph);
  const strides = both(axis => strideOf(node, axis));
  for (const axis of [0, 1] as const) {
    on.need({ axis, scale: scale[axis], least: windows[axis].leastPitch, multiple: strides[axis], what });
  }
  const leaves = windows.some(({ before, behind }) => before > 0 || behind > 0);
  const { gap } = leaves && x.gap === 'unknown' ? on.clear(0) : x;
  const tile = both(axis => windows[axis].tile);
  const isPoint = kernel.every(size => size === 1) && !leaves;
  const scaled = both(axis => timesRatio(scale[axis], { up: 1, down: strides[axis] }));
  return [{ ...x, tile, scale: scaled, gap: isPoint ? gap : 'unknown' }];
}

function windowOf(node: Node, kernel: readonly number[], pads: readonly number[], axis: 0 | 1): AxisWindow {
  return {
    kernel: kernel[axis] ?? 1,
    stride: strideOf(node, axis),
    dilation: findInts(node, 'dilations')?.[axis] ?? 1,
    padBegin: pads[axis] ?? 0,
    padEnd: pads[axis + 2] ?? 0,
  };
}

const strideOf = (node: Node, axis: 0 | 1): number => findInts(node, 'strides')?.[axis] ?? 1;
