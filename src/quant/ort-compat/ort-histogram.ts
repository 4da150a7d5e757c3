/** Histograms as onnxruntime.quantization computes them: NumPy 2's histogram of float32 data, step by step, with equal counts. */

import type { Sketch } from '../sketch/sketch.js';
import { countEdgesByKernel, KERNEL_MAX_BINS } from './ort-kernel.js';
import type { OrtBinning, OrtHistogramOf } from './ort-method.js';

const { fround, trunc } = Math;

/**
 * The bins over all samples, as the calibrators make them in one call: magnitudes from the smallest to the largest (`collect_absolute_value`),
 * or values between −m and m for the largest magnitude m (`collect_value`). An empty range is widened by ½ on both sides, as numpy.histogram does.
 * @see onnxruntime 1.30, python/tools/quantization/calibrate.py, HistogramCollector.
 */
export function planBinning({ min = 0, max = 0, leastMagnitude = 0 }: Sketch, of: OrtHistogramOf, bins: number): OrtBinning {
  const greatest = Math.max(-min, max) + 0;
  const [first, last] = of === 'magnitudes' ? [leastMagnitude, greatest] : [-greatest, greatest];
  return first === last ? { of, bins, first: fround(first - 0.5), last: fround(last + 0.5) } : { of, bins, first, last };
}

/** numpy.linspace(first, last, bins + 1) in float32: every operation rounds. */
export function edgesOf({ bins, first, last }: OrtBinning): Float32Array {
  const delta = fround(last - first);
  const step = fround(delta / bins);
  const edges = Float32Array.from({ length: bins + 1 }, (_, i) =>
    step === 0 ? fround(fround(fround(i / bins) * delta) + first) : fround(fround(i * step) + first),
  );
  edges[bins] = last;
  return edges;
}

/** Counts the elements of `data`. All lie between the outer edges; the last bin includes its upper edge. */
export function countByEdges(data: Float32Array, binning: OrtBinning, edges: Float32Array): Float64Array {
  const counts = new Float64Array(binning.bins);
  const whole = binning.bins <= KERNEL_MAX_BINS ? data.length - (data.length % 4) : 0;
  countEdgesByKernel(counts, data.subarray(0, whole), binning, edges);
  countEdgesScalar(counts, data.subarray(whole), binning, edges);
  return counts;
}

/** The steps of numpy.histogram, element by element, each in float32. */
export function countEdgesScalar(
  counts: Float64Array,
  data: Float32Array,
  { of, bins, first, last }: OrtBinning,
  edges: Float32Array,
): void {
  const span = fround(last - first);
  const isMagnitude = of === 'magnitudes';
  const numerator = fround(bins);
  for (let i = 0; i < data.length; i++) {
    const value = data[i] as number;
    const x = isMagnitude && value < 0 ? -value : value;
    let bin = trunc(fround(fround(fround(x - first) / span) * numerator));
    if (bin === bins) bin--;
    // The quotient may be one rounding step off, so the edges decide.
    if (x < (edges[bin] as number)) bin--;
    if (bin !== bins - 1 && x >= (edges[bin + 1] as number)) bin++;
    counts[bin] = (counts[bin] as number) + 1;
  }
}
