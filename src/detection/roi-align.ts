/** How is a region of a feature map sampled to a fixed size? RoIAlign, as torchvision computes it with `aligned=False`. */
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
  /** Sampling points per bin and axis; 0 takes as many as the bin has cells, rounded up. */
  readonly samplingRatio: number;
}

const { fround } = Math;

/**
 * Pools the RoIs at `indices` of `boxes` (input pixels) into `target`: float32 [boxes, channels, size, size]. Changes those RoIs of `target` alone.
 * Each bin is the mean of its sampling points, each interpolated bilinearly, every operation in float32: bit for bit what ONNX Runtime's operator gives on
 * x86-64. This defines what the kernel of roi-align-kernel.ts computes.
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
    poolRoi(target.subarray(index * perRoi, (index + 1) * perRoi), map, sampleRoi(map, boxes, index, options), options.size);
  }
}

/** Where the bins of a RoI are sampled, along each axis. */
export interface RoiPoints {
  readonly xs: Points;
  readonly ys: Points;
}

/** The sampling points of box `index` on a map. */
export function sampleRoi(map: Omit<FeatureMap, 'data'>, boxes: Boxes, index: number, options: RoiAlignOptions): RoiPoints {
  const side = (corner: number) => fround((boxes[4 * index + corner] as number) * fround(map.scale));
  return { xs: samplePoints(side(0), side(2), map.width, options), ys: samplePoints(side(1), side(3), map.height, options) };
}

/** The sampling points of one axis: `perBin` for each bin, each a pair of cells with weights. Points outside the map have weight 0. */
export interface Points {
  readonly perBin: number;
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly lowWeight: Float32Array;
  readonly highWeight: Float32Array;
}

function samplePoints(start: number, end: number, cells: number, { size, samplingRatio }: RoiAlignOptions): Points {
  const length = Math.max(fround(end - start), 1);
  const bin = fround(length / size);
  const perBin = samplingRatio > 0 ? samplingRatio : Math.ceil(bin);
  const count = size * perBin;
  const points = {
    perBin,
    low: new Int32Array(count),
    high: new Int32Array(count),
    lowWeight: new Float32Array(count),
    highWeight: new Float32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const step = fround(fround(fround((i % perBin) + 0.5) * bin) / perBin);
    const place = fround(fround(start + fround(Math.floor(i / perBin) * bin)) + step);
    if (!(place >= -1 && place <= cells)) continue;
    const inside = Math.max(place, 0);
    const low = Math.min(Math.floor(inside), cells - 1);
    const beyond = low === cells - 1 ? 0 : fround(inside - low);
    points.low[i] = low;
    points.high[i] = Math.min(low + 1, cells - 1);
    points.lowWeight[i] = 1 - beyond;
    points.highWeight[i] = beyond;
  }
  return points;
}

function poolRoi(target: Float32Array, map: FeatureMap, { xs, ys }: RoiPoints, size: number): void {
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
