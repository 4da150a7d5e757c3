/** WebAssembly kernel of RoIAlign, eight channels at a time, on a channels-last copy of the map. Results equal those of `roiAlignInto` bit for bit. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import type { Boxes } from './boxes.js';
import { roiAlignWasm } from './generated/roi-align.js';
import {
  type FeatureMap,
  makePoints,
  type Points,
  placePoints,
  type RoiAlignOptions,
  roiAlignInto,
  type Span,
  spanRoi,
} from './roi-align.js';

/** Layout of the kernel's memory, in bytes. The system allocates only the pages that are used. */
const AXES = 0;
const AXES_BYTES = 2 ** 16;
const TABLE = AXES + 2 * AXES_BYTES;
const TABLE_BYTES = 2 ** 21;
const POOLED = TABLE + TABLE_BYTES;
const POOLED_BYTES = 2 ** 20;
const PLANES = POOLED + POOLED_BYTES;
const PLANES_BYTES = 2 ** 24;
const CELLS = PLANES + PLANES_BYTES;

/** Channels that are pooled together: two vectors of four floats. */
const GROUP = 8;
const GROUP_BYTES = 4 * GROUP;
/** Bytes of a sampling point: the offsets of its four cells, then their weights. */
const POINT_BYTES = 32;

/** Equals `roiAlignInto` bit for bit. */
export function roiAlignByKernel(
  target: Float32Array,
  map: FeatureMap,
  boxes: Boxes,
  indices: ArrayLike<number>,
  options: RoiAlignOptions,
): void {
  const rois = Array.from(indices, index => ({ index, ...spanRoi(map, boxes, index, options) }));
  const most = { xs: mostPoints(rois, 'xs', options), ys: mostPoints(rois, 'ys', options) };
  const block = findBlock(map, options);
  const fits = block > 0 && Math.max(most.xs, most.ys) * POINT_BYTES <= AXES_BYTES && most.xs * most.ys * POINT_BYTES <= TABLE_BYTES;
  // The copy of a large map is not worth it for few points, and maps that do not fit are pooled in place.
  if (!fits || rois.length * most.xs * most.ys * 4 < map.height * map.width) {
    roiAlignInto(target, map, boxes, indices, options);
    return;
  }
  for (let first = 0; first < map.channels; first += block) {
    const channels = Math.min(block, map.channels - first);
    const groups = Math.ceil(channels / GROUP);
    layCells(map, first, channels, groups);
    for (const roi of rois) poolRoi(target, map, { ...roi, first, channels, groups, size: options.size });
  }
}

function mostPoints(rois: readonly Readonly<Record<'xs' | 'ys', Span>>[], axis: 'xs' | 'ys', { size }: RoiAlignOptions): number {
  return rois.reduce((most, { [axis]: { perBin } }) => Math.max(most, perBin * size), 0);
}

/** Channels per pass, a multiple of the group size; 0 where one group does not fit. */
function findBlock({ channels, height, width }: FeatureMap, { size }: RoiAlignOptions): number {
  const most = Math.min(PLANES_BYTES / (4 * (height * width + 4)), POOLED_BYTES / (4 * size * size));
  return Math.min(Math.floor(most / GROUP), Math.ceil(channels / GROUP)) * GROUP;
}

interface Kernel {
  readonly lay: (planes: number, end: number, planeBytes: number, to: number, cellBytes: number) => void;
  readonly fill: (
    rows: number,
    rowsEnd: number,
    columns: number,
    columnsEnd: number,
    rowBytes: number,
    columnBytes: number,
    to: number,
  ) => void;
  readonly pool: (table: number, end: number, pointsBytes: number, groups: number, binBytes: number, count: number) => void;
  readonly floats: Float32Array;
  readonly words: Int32Array;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(roiAlignWasm);
  opened = {
    lay: getDefined(functions.lay, 'lay'),
    fill: getDefined(functions.fill, 'fill'),
    pool: getDefined(functions.pool, 'pool'),
    floats: new Float32Array(memory),
    words: new Int32Array(memory),
  };
  return opened;
}

/** Copies channels of the map into channels-last order. Unused channels of the last group hold undefined values. */
function layCells({ data, height, width }: FeatureMap, first: number, channels: number, groups: number): void {
  const { lay, floats } = openKernel();
  const area = height * width;
  floats.set(data.subarray(first * area, (first + channels) * area), PLANES / 4);
  for (let channel = 0; channel < channels; channel += 4) {
    const planes = PLANES + 4 * channel * area;
    lay(planes, planes + 4 * area, 4 * area, CELLS + 4 * channel, groups * GROUP_BYTES);
  }
}

interface RoiJob extends Readonly<Record<'xs' | 'ys', Span>> {
  readonly first: number;
  readonly channels: number;
  readonly groups: number;
  readonly index: number;
  readonly size: number;
}

function poolRoi(target: Float32Array, map: FeatureMap, { first, channels, groups, index, xs, ys, size }: RoiJob): void {
  const { fill, pool, floats } = openKernel();
  const cellBytes = groups * GROUP_BYTES;
  layAxis(AXES, getBuffer(xs.perBin * size), xs, { cells: map.width, stepBytes: cellBytes, lanes: [0, 1, 0, 1] });
  layAxis(AXES + AXES_BYTES, getBuffer(ys.perBin * size), ys, { cells: map.height, stepBytes: map.width * cellBytes, lanes: [0, 0, 1, 1] });
  const [columnBytes, rowBytes] = [xs.perBin * POINT_BYTES, ys.perBin * POINT_BYTES];
  fill(AXES + AXES_BYTES, AXES + AXES_BYTES + size * rowBytes, AXES, AXES + size * columnBytes, rowBytes, columnBytes, TABLE);
  const bins = size * size;
  const perBin = xs.perBin * ys.perBin;
  pool(TABLE, TABLE + bins * perBin * POINT_BYTES, perBin * POINT_BYTES, groups, bins * 4, perBin);
  const from = POOLED / 4;
  target.set(floats.subarray(from, from + channels * bins), (index * map.channels + first) * bins);
}

/** Buffer for the points of one axis, reused for axes of the same number of points. */
let buffer: Points = makePoints(0);

function getBuffer(count: number): Points {
  if (buffer.low.length !== count) buffer = makePoints(count);
  return buffer;
}

interface Axis {
  readonly cells: number;
  /** Bytes from one cell to the next. */
  readonly stepBytes: number;
  /** Per corner (top left, top right, bottom left, bottom right), which of the point's two cells it uses: 0 the lower, 1 the higher. */
  readonly lanes: readonly [number, number, number, number];
}

/** Writes, per point of an axis, the byte offsets and the weight factors of the four corners. */
function layAxis(at: number, points: Points, span: Span, { cells, stepBytes, lanes }: Axis): void {
  const { floats, words } = openKernel();
  placePoints(points, span, cells);
  for (let i = 0, to = at / 4; i < points.low.length; i++, to += POINT_BYTES / 4) {
    const low = (points.low[i] as number) * stepBytes;
    const high = (points.high[i] as number) * stepBytes;
    const lowWeight = points.lowWeight[i] as number;
    const highWeight = points.highWeight[i] as number;
    for (let corner = 0; corner < 4; corner++) {
      words[to + corner] = lanes[corner] === 0 ? low : high;
      floats[to + 4 + corner] = lanes[corner] === 0 ? lowWeight : highWeight;
    }
  }
}
