/** The factors per channel that make the weight ranges on both sides of each link of a chain equal. */
import type { ScalableLayer } from './scalable-layer.js';

/** One vector per link: the outputs of the layer before it are multiplied by them, the inputs of the layer after it divided. */
export type LinkFactors = readonly Float64Array[];

const MOST_SWEEPS = 100;
/** In powers of two: a sweep that changes no factor by more ends the iteration. */
const SETTLED = 2 ** -20;
/** Around a grouped layer, factors whose largest and smallest are further apart than this are not applied. */
const MOST_GROUPED_SPAN = 2;
/** A bias counts like a weight if it is larger, compared with the weights of its channel, than this many times the median of the layer. */
const DOMINANT_BIAS = 4;

/**
 * Repeats s = sqrt(r2 / r1) per link until it settles: r1 is the largest weight magnitude of the output channel before the link,
 * r2 that of the input channel after it (Nagel et al. 2019, Data-Free Quantization, equation 11). A channel with r1 or r2 of 0 keeps factor 1.
 * Links beside a grouped layer whose factors would span too much keep factors of 1, and the others are solved again without them.
 */
export function solveFactors(layers: readonly ScalableLayer[]): LinkFactors {
  const links = layers.slice(1).map((_, link) => link);
  const factors = settle(layers, links);
  const narrow = links.filter(link => !isTooWide(layers, link, factors));
  return narrow.length === links.length ? factors : settle(layers, narrow);
}

/** Whether all factors are 1 within a thousandth of a power of two. */
export const areUnit = (factors: LinkFactors): boolean =>
  factors.every(vector => vector.every(factor => Math.abs(Math.log2(factor)) <= 1e-3));

/** Factors of the given links; those of the other links are 1. */
function settle(layers: readonly ScalableLayer[], links: readonly number[]): LinkFactors {
  const peaks = layers.map(measurePeaks);
  const factors = layers.slice(1).map(layer => new Float64Array(layer.inputs).fill(1));
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    const changes = links.map(link => balance(peaks, link, factors[link] ?? new Float64Array()));
    if (changes.every(change => change <= SETTLED)) break;
  }
  return factors;
}

/** The nearest powers of two. */
export const roundFactors = (factors: LinkFactors): LinkFactors =>
  factors.map(vector => vector.map(factor => 2 ** Math.round(Math.log2(factor))));

/** The largest magnitudes of the weights of each row and column, and those of biases that dominate. */
interface Peaks {
  readonly layer: ScalableLayer;
  readonly weights: Float64Array;
  /** Per output channel; 0 where the weights decide. */
  readonly biases: Float64Array;
}

function measurePeaks(layer: ScalableLayer): Peaks {
  const { rows, columns, inner, weight } = layer;
  const weights = new Float64Array(rows * columns);
  for (let pair = 0, at = 0; pair < weights.length; pair++)
    for (const end = at + inner; at < end; at++) weights[pair] = Math.max(weights[pair] ?? 0, Math.abs(weight.floats.data[at] ?? 0));
  const measured = { layer, weights, biases: new Float64Array(layer.outputs) };
  return { ...measured, biases: findDominant(layer, outputPeaks(measured)) };
}

/** |bias| / (4 · median) where |bias| / peak exceeds 4 times its median; 0 elsewhere. Scaling a channel's weights and bias alike does not change the choice. */
function findDominant({ bias, outputs }: ScalableLayer, peaks: Float64Array): Float64Array {
  const ratios = Float64Array.from({ length: outputs }, (_, output) => Math.abs(bias?.floats.data[output] ?? 0) / (peaks[output] ?? 0));
  const known = ratios.filter(Number.isFinite).sort();
  const limit = DOMINANT_BIAS * (known[known.length >> 1] ?? 0);
  return ratios.map((ratio, output) => (limit > 0 && ratio > limit ? Math.abs(bias?.floats.data[output] ?? 0) / limit : 0));
}

function outputPeaks({ layer, weights, biases }: Peaks): Float64Array {
  const peaks = Float64Array.from(biases);
  for (let row = 0, pair = 0; row < layer.rows; row++) {
    for (let column = 0; column < layer.columns; column++, pair++) {
      const output = layer.outputAt(row, column);
      peaks[output] = Math.max(peaks[output] ?? 0, weights[pair] ?? 0);
    }
  }
  return peaks;
}

function inputPeaks({ layer, weights }: Peaks): Float64Array {
  const peaks = new Float64Array(layer.inputs);
  for (let row = 0, pair = 0; row < layer.rows; row++) {
    for (let column = 0; column < layer.columns; column++, pair++) {
      const input = layer.inputAt(row, column);
      peaks[input] = Math.max(peaks[input] ?? 0, weights[pair] ?? 0);
    }
  }
  return peaks;
}

/** Equalizes one link: updates the peaks of both layers and the total factors. @returns the largest change in powers of two. */
function balance(peaks: readonly Peaks[], link: number, total: Float64Array): number {
  const [head, tail] = [peaks[link], peaks[link + 1]];
  if (head === undefined || tail === undefined) return 0;
  const [before, after] = [outputPeaks(head), inputPeaks(tail)];
  const steps = before.map((peak, channel) => stepOf(peak, after[channel] ?? 0));
  scalePairs(head, (row, column) => steps[head.layer.outputAt(row, column)] ?? 1);
  for (let channel = 0; channel < head.biases.length; channel++) head.biases[channel] = (head.biases[channel] ?? 0) * (steps[channel] ?? 1);
  scalePairs(tail, (row, column) => 1 / (steps[tail.layer.inputAt(row, column)] ?? 1));
  let change = 0;
  for (const [channel, step] of steps.entries()) {
    total[channel] = (total[channel] ?? 1) * step;
    change = Math.max(change, Math.abs(Math.log2(step)));
  }
  return change;
}

function stepOf(before: number, after: number): number {
  const step = Math.sqrt(after / before);
  return before > 0 && after > 0 && Number.isFinite(step) && step > 0 ? step : 1;
}

function scalePairs({ layer, weights }: Peaks, factor: (row: number, column: number) => number): void {
  for (let row = 0, pair = 0; row < layer.rows; row++)
    for (let column = 0; column < layer.columns; column++, pair++) weights[pair] = (weights[pair] ?? 0) * factor(row, column);
}

/** Whether the link is beside a grouped layer, and the factors on one side of that layer span more than two bits. */
function isTooWide(layers: readonly ScalableLayer[], link: number, factors: LinkFactors): boolean {
  const besides = [link, link + 1].filter(at => (layers[at]?.groups ?? 1) > 1);
  return besides.some(at => [at - 1, at].some(side => spanOf(factors[side]) > MOST_GROUPED_SPAN));
}

function spanOf(factors: Float64Array | undefined): number {
  if (factors === undefined) return 0;
  const exponents = factors.map(Math.log2);
  return exponents.reduce((most, one) => Math.max(most, one), -Infinity) - exponents.reduce((least, one) => Math.min(least, one), Infinity);
}
