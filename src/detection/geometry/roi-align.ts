/** RoIAlign in plain TypeScript, as torchvision computes it with `aligned=False`. */
import type { Boxes } from './boxes.js';

/** One image's feature map: float32 [1, channels, height, width]. */
export interface FeatureMap {
  readonly data: Float32Array;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  /** Cells per input pixel: 1/4, 1/8, … */
  readonly scale: number;
}

export interface RoiAlignOptions {
  /** Bins per side of the result. */
  readonly size: number;
  /** Sampling points per bin and axis; 0: the size of the bin in cells, rounded up. */
  readonly samplingRatio: number;
}

const { fround } = Math;

/**
 * Pools the RoIs at `indices` of `boxes` (input pixels) into `target`: float32 [boxes, channels, size, size]. Only these RoIs of `target` change.
 * Each bin is the mean of its sampling points, which are interpolated bilinearly. Every operation is rounded to float32, which equals ONNX Runtime's
 * operator on x86-64 bit for bit. This function defines the results of the kernel in roi-align-kernel.ts.
 * @see He et al., Mask R-CNN, section 3; torchvision `roi_align`; ONNX operator RoiAlign, opset 16, `output_half_pixel`.
 */
export function roiAlignInto(
  target: Float32Array,
  map: FeatureMap,
  boxes: Boxes,
  indices: ArrayLike<number>,
  options: RoiAlignOptions,
): void {
  const perRoi = map.channels * options.size * options.size;
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] as number;
    const { xs, ys } = spanRoi(map, boxes, index, options);
    const points = { xs: makePoints(xs.perBin * options.size), ys: makePoints(ys.perBin * options.size) };
    placePoints(points.xs, xs, map.width);
    placePoints(points.ys, ys, map.height);
    poolRoi(target.subarray(index * perRoi, (index + 1) * perRoi), map, points, options.size);
  }
}

/** One axis of an RoI on a map: its start and the length of a bin, both in cells, and the number of sampling points per bin. */
export interface Span {
  readonly start: number;
  readonly bin: number;
  readonly perBin: number;
}

/** Both axes of box `index` on a map. */
export function spanRoi(
  { scale }: Pick<FeatureMap, 'scale'>,
  boxes: Boxes,
  index: number,
  options: RoiAlignOptions,
): { readonly xs: Span; readonly ys: Span } {
  const side = (corner: number) => fround((boxes[4 * index + corner] as number) * fround(scale));
  return { xs: spanAxis(side(0), side(2), options), ys: spanAxis(side(1), side(3), options) };
}

function spanAxis(start: number, end: number, { size, samplingRatio }: RoiAlignOptions): Span {
  const bin = fround(Math.max(fround(end - start), 1) / size);
  return { start, bin, perBin: samplingRatio > 0 ? samplingRatio : Math.ceil(bin) };
}

/** The sampling points of one axis, bin by bin. Each is a pair of cells with weights, which are 0 outside the map. */
export interface Points {
  perBin: number;
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly lowWeight: Float32Array;
  readonly highWeight: Float32Array;
}

/** Allocates `count` points. */
export function makePoints(count: number): Points {
  return {
    perBin: 1,
    low: new Int32Array(count),
    high: new Int32Array(count),
    lowWeight: new Float32Array(count),
    highWeight: new Float32Array(count),
  };
}

/** Fills all of `points` for an axis of `cells` cells. */
export function placePoints(points: Points, { start, bin, perBin }: Span, cells: number): void {
  points.perBin = perBin;
  for (let i = 0; i < points.low.length; i++) {
    const step = fround(fround(fround((i % perBin) + 0.5) * bin) / perBin);
    const place = fround(fround(start + fround(Math.floor(i / perBin) * bin)) + step);
    const isOutside = !(place >= -1 && place <= cells);
    const inside = isOutside ? 0 : Math.max(place, 0);
    const low = Math.min(Math.floor(inside), cells - 1);
    const beyond = low === cells - 1 ? 0 : fround(inside - low);
    points.low[i] = low;
    points.high[i] = Math.min(low + 1, cells - 1);
    points.lowWeight[i] = isOutside ? 0 : 1 - beyond;
    points.highWeight[i] = isOutside ? 0 : beyond;
  }
}

function poolRoi(target: Float32Array, map: FeatureMap, { xs, ys }: { readonly xs: Points; readonly ys: Points }, size: number): void {
  const { data, width, height, channels } = map;
  const count = xs.perBin * ys.perBin;
  let to = 0;
  for (let channel = 0; channel < channels; channel++) {
    const base = channel * height * width;
    for (let binY = 0; binY < size; binY++) {
      for (let binX = 0; binX < size; binX++) {
        let sum = 0;
        for (let y = binY * ys.perBin; y < (binY + 1) * ys.perBin; y++) {
          const top = base + (ys.low[y] as number) * width;
          const bottom = base + (ys.high[y] as number) * width;
          const topWeight = ys.lowWeight[y] as number;
          const bottomWeight = ys.highWeight[y] as number;
          for (let x = binX * xs.perBin; x < (binX + 1) * xs.perBin; x++) {
            const left = xs.low[x] as number;
            const right = xs.high[x] as number;
            const leftWeight = xs.lowWeight[x] as number;
            const rightWeight = xs.highWeight[x] as number;
            const topLeft = fround(fround(topWeight * leftWeight) * (data[top + left] as number));
            const topRight = fround(fround(topWeight * rightWeight) * (data[top + right] as number));
            const bottomLeft = fround(fround(bottomWeight * leftWeight) * (data[bottom + left] as number));
            const bottomRight = fround(fround(bottomWeight * rightWeight) * (data[bottom + right] as number));
            sum = fround(sum + fround(fround(fround(topLeft + topRight) + bottomLeft) + bottomRight));
          }
        }
        target[to++] = sum / count;
      }
    }
  }
}
