/** WebAssembly kernel of RoIAlign, eight channels at a time, on a channels-last copy of the map. Results equal those of `roiAlignInto` bit for bit. */
import { getDefined } from '../../base/invariant.js';
import { encodeWasm, type WasmCode, type WasmFunction } from '../../base/wasm-encoder.js';
import { openWasm } from '../../base/wasm-instance.js';
import { wasm } from '../../base/wasm-instructions.js';
import type { Boxes } from './boxes.js';
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
const PAGES = (CELLS + PLANES_BYTES) / 65536;

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
  const { functions, memory } = openWasm(encodeWasm({ pages: PAGES, functions: [layFunction(), fillFunction(), poolFunction()] }));
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

const { get, set, tee, loopWhile, i32, v128, f32x4, shuffle32 } = wasm;

/** Transposes four planes into the four channels of each cell, four cells at a time. Values read past the end are written past the last cell. */
function layFunction(): WasmFunction {
  const [from, end, planeBytes, to, cellBytes] = [0, 1, 2, 3, 4];
  const [plane, a, b, c, d, low, high] = [5, 6, 7, 8, 9, 10, 11];
  const next = [...get(plane), ...get(planeBytes), ...i32.add];
  const write = (first: number, second: number, lanes: readonly [number, number, number, number]): WasmCode => [
    ...[...get(to), ...get(first), ...get(second), ...shuffle32(...lanes), ...v128.store(0)],
    ...[...get(to), ...get(cellBytes), ...i32.add, ...set(to)],
  ];
  const [abLow, abHigh, cdLow, cdHigh] = [low, high, a, b];
  const body = loopWhile(
    [...get(from), ...tee(plane), ...v128.load(0), ...set(a), ...next, ...tee(plane), ...v128.load(0), ...set(b)],
    [...next, ...tee(plane), ...v128.load(0), ...set(c), ...next, ...v128.load(0), ...set(d)],
    [...get(a), ...get(b), ...shuffle32(0, 4, 1, 5), ...set(abLow), ...get(a), ...get(b), ...shuffle32(2, 6, 3, 7), ...set(abHigh)],
    [...get(c), ...get(d), ...shuffle32(0, 4, 1, 5), ...set(cdLow), ...get(c), ...get(d), ...shuffle32(2, 6, 3, 7), ...set(cdHigh)],
    [...write(abLow, cdLow, [0, 1, 4, 5]), ...write(abLow, cdLow, [2, 3, 6, 7])],
    [...write(abHigh, cdHigh, [0, 1, 4, 5]), ...write(abHigh, cdHigh, [2, 3, 6, 7])],
    [...get(from), ...i32.const(16), ...i32.add, ...tee(from), ...get(end), ...i32.ltU],
  );
  return { name: 'lay', params: Array<'i32'>(5).fill('i32'), locals: ['i32', ...Array<'v128'>(6).fill('v128')], body };
}

/** Writes the table of points, bin by bin and row by row within a bin, which is the order of summation: adds the offsets of the two axes and multiplies their weights. */
function fillFunction(): WasmFunction {
  const [rows, rowsEnd, columns, columnsEnd, rowBytes, columnBytes, to] = [0, 1, 2, 3, 4, 5, 6];
  const [firstColumn, column, row, columnEnd, rowEnd, places, weights] = [7, 8, 9, 10, 11, 12, 13];
  const upTo = (pointer: number, step: WasmCode, end: number): WasmCode => [
    ...[...get(pointer), ...step, ...i32.add, ...tee(pointer), ...get(end), ...i32.ltU],
  ];
  const point = i32.const(POINT_BYTES);
  const pointOfRow = loopWhile(
    [...get(to), ...get(places), ...get(column), ...v128.load(0), ...wasm.i32x4.add, ...v128.store(0)],
    [...get(to), ...get(weights), ...get(column), ...v128.load(16), ...f32x4.mul, ...v128.store(16)],
    [...get(to), ...point, ...i32.add, ...set(to)],
    upTo(column, point, columnEnd),
  );
  const rowOfBin = loopWhile(
    [...get(row), ...v128.load(0), ...set(places), ...get(row), ...v128.load(16), ...set(weights), ...get(firstColumn), ...set(column)],
    pointOfRow,
    upTo(row, point, rowEnd),
  );
  const binOfRow = loopWhile(
    [...get(firstColumn), ...get(columnBytes), ...i32.add, ...set(columnEnd), ...get(rows), ...set(row)],
    rowOfBin,
    upTo(firstColumn, get(columnBytes), columnsEnd),
  );
  const body = loopWhile(
    [...get(columns), ...set(firstColumn), ...get(rows), ...get(rowBytes), ...i32.add, ...set(rowEnd)],
    binOfRow,
    upTo(rows, get(rowBytes), rowsEnd),
  );
  return { name: 'fill', params: Array<'i32'>(7).fill('i32'), locals: [...Array<'i32'>(5).fill('i32'), 'v128', 'v128'], body };
}

/** For every group of channels and every bin: the mean of the weighted cells of its points. Writes [channels, bins] from `POOLED` on. */
function poolFunction(): WasmFunction {
  const [table, end, pointsBytes, groups, binBytes, count] = [0, 1, 2, 3, 4, 5];
  const [point, pointEnd, base, place, out, lane, weight, sum, upperSum, term, upperTerm] = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
  const zero: WasmCode = [...i32.const(0), ...wasm.i32x4.splat];
  const cell = (n: number): WasmCode => [
    ...[
      ...get(point),
      ...i32.load(4 * n),
      ...get(base),
      ...i32.add,
      ...set(place),
      ...get(point),
      ...v128.load32Splat(16 + 4 * n),
      ...set(weight),
    ],
    ...[
      ...(n === 0 ? [] : get(term)),
      ...get(weight),
      ...get(place),
      ...v128.load(0),
      ...f32x4.mul,
      ...(n === 0 ? [] : f32x4.add),
      ...set(term),
    ],
    ...[...(n === 0 ? [] : get(upperTerm)), ...get(weight), ...get(place), ...v128.load(16), ...f32x4.mul],
    ...[...(n === 0 ? [] : f32x4.add), ...set(upperTerm)],
  ];
  const write = (vector: number): WasmCode => [
    ...[...get(vector), ...get(count), ...f32x4.splat, ...f32x4.div, ...set(vector)],
    ...[0, 1, 2, 3].flatMap(n => [
      ...get(lane),
      ...get(vector),
      ...v128.store32Lane(0, n),
      ...get(lane),
      ...get(binBytes),
      ...i32.add,
      ...set(lane),
    ]),
  ];
  const points = loopWhile(
    ...[0, 1, 2, 3].map(cell),
    [...get(sum), ...get(term), ...f32x4.add, ...set(sum), ...get(upperSum), ...get(upperTerm), ...f32x4.add, ...set(upperSum)],
    [...get(point), ...i32.const(POINT_BYTES), ...i32.add, ...tee(point), ...get(pointEnd), ...i32.ltU],
  );
  const bins = loopWhile(
    [...zero, ...tee(sum), ...set(upperSum), ...get(point), ...get(pointsBytes), ...i32.add, ...set(pointEnd)],
    points,
    [...get(out), ...set(lane), ...write(sum), ...write(upperSum), ...get(out), ...i32.const(4), ...i32.add, ...set(out)],
    [...get(point), ...get(end), ...i32.ltU],
  );
  const body = [
    ...[...i32.const(CELLS), ...set(base), ...i32.const(POOLED), ...set(out)],
    ...loopWhile(
      [...get(table), ...set(point)],
      bins,
      // The bins have advanced `out` by one channel; the next group is seven channels further.
      [...get(base), ...i32.const(GROUP_BYTES), ...i32.add, ...set(base)],
      ...Array<WasmCode>(GROUP - 1).fill([...get(out), ...get(binBytes), ...i32.add, ...set(out)]),
      [...get(groups), ...i32.const(1), ...i32.sub, ...tee(groups), ...i32.const(0), ...i32.ne],
    ),
  ];
  const locals = [...Array<'i32'>(6).fill('i32'), ...Array<'v128'>(5).fill('v128')] as const;
  return { name: 'pool', params: ['i32', 'i32', 'i32', 'i32', 'i32', 'f32'], locals, body };
}
