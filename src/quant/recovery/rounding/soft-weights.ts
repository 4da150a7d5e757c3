/**
 * Weights between rounding down and rounding up, and one step of gradient descent on them.
 * Source: Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization", 2020 (arXiv 2004.10568), equations 21 to 24, and Adam, Kingma
 * and Ba, 2015 (arXiv 1412.6980). Arithmetic is in double; stored values are rounded to float32.
 */
import { roundHalfEven } from '../../../base/round-half-even.js';

/** One element of each array per weight. */
export interface SoftWeights {
  /** The value of the integer below the weight, minus the weight. */
  readonly base: Float32Array;
  /** What rounding up adds; 0 where the limits of the integers leave no choice. */
  readonly step: Float32Array;
  /** 2 · step / unit, where unit is the mean of step² · H_jj over the row: the loss does not depend on the scale of inputs and weights. */
  readonly factor: Float32Array;
  /** The part of the target that the weights themselves miss: the loss is (dᵀ·H·d − 2·rest·d) / unit of the differences d. */
  readonly rest: Float32Array;
  /** A weight's share of its step is the rectified sigmoid of its variable. */
  readonly variable: Float32Array;
  /** Moments of the slope. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
  /** Of the variable. */
  readonly sigmoid: Float32Array;
  /** base + share · step: the soft value minus the weight. */
  readonly difference: Float32Array;
  /** H · difference, written by the caller. */
  readonly pull: Float32Array;
}

export const SOFT_ARRAYS = ['base', 'step', 'factor', 'rest', 'variable', 'mean', 'square', 'sigmoid', 'difference', 'pull'] as const;

export interface SoftStep {
  /** Of the regularizer strength · Σ (1 − |2·share − 1|^exponent). The exponent is an integer from 2 on: large, it leaves shares alone; small, it drives them to either end. */
  readonly strength: number;
  readonly exponent: number;
  /** Number of this step, from 1 on. */
  readonly number: number;
}

/** The sigmoid is stretched to (LOWEST, LOWEST + WIDTH) and clipped to [0, 1], so that 0 and 1 are reached. */
const [LOWEST, WIDTH] = [-0.1, 1.2];

/** Adam. */
const [RATE, DECAY, SQUARE_DECAY, TINY] = [0.1, 0.9, 0.999, 1e-8];

/** The numbers that a step passes to all weights. */
export function constantsOf({ strength, exponent, number }: SoftStep) {
  return {
    strength: 2 * strength * exponent,
    power: exponent - 2,
    rate: RATE / (1 - DECAY ** number),
    squareLeft: 1 - SQUARE_DECAY ** number,
  };
}

/** Begins at a share within [0, 1]; `step` and `base` are set. */
export function startAt({ base, step, variable, sigmoid, difference }: SoftWeights, i: number, share: number): void {
  variable[i] = -Math.log(WIDTH / (share - LOWEST) - 1);
  sigmoid[i] = sigmoidOf(variable[i] as number);
  difference[i] = (base[i] as number) + shareOf(sigmoid[i] as number) * (step[i] as number);
}

/** What the kernel computes: moves the variables by one step. */
export function stepPlainly(soft: SoftWeights, count: number, step: SoftStep): void {
  const { base, variable, mean, square, sigmoid, difference } = soft;
  const { rate, squareLeft } = constantsOf(step);
  for (let i = 0; i < count; i++) {
    const slope = slopeAt(soft, i, step);
    const m = (mean[i] as number) * DECAY + slope * 0.1;
    const v = (square[i] as number) * SQUARE_DECAY + slope * slope * 0.001;
    mean[i] = m;
    square[i] = v;
    variable[i] = (variable[i] as number) - (m * rate) / (Math.sqrt(v / squareLeft) + TINY);
    sigmoid[i] = sigmoidOf(variable[i] as number);
    difference[i] = (base[i] as number) + shareOf(sigmoid[i] as number) * (soft.step[i] as number);
  }
}

/** The derivative of the loss by variable `i`; 0 at a share of 0 or 1. */
export function slopeAt({ factor, rest, sigmoid, pull }: SoftWeights, i: number, step: SoftStep): number {
  const { strength, power } = constantsOf(step);
  const s = sigmoid[i] as number;
  const share = shareOf(s);
  if (!(share > 0 && share < 1)) return 0;
  const side = share + share - 1;
  const byError = (factor[i] as number) * ((pull[i] as number) - (rest[i] as number));
  return (byError - strength * powerOf(side, power)) * (WIDTH * (s * (1 - s)));
}

export function shareOf(sigmoid: number): number {
  const share = sigmoid * WIDTH - 0.1;
  return share < 0 ? 0 : share > 1 ? 1 : share;
}

/** side · |side|^power, by squaring. */
function powerOf(side: number, power: number): number {
  let term = side;
  let square = Math.abs(side);
  for (let bits = power; bits !== 0; bits >>>= 1) {
    if ((bits & 1) === 1) term *= square;
    square *= square;
  }
  return term;
}

/** 1 / (1 + exp(−x)), with x clipped to ±30: within 1e-9. The polynomial has the coefficients 1/n! of the exponential function. */
function sigmoidOf(x: number): number {
  const y = -Math.min(30, Math.max(-30, x));
  const k = roundHalfEven(y * Math.LOG2E);
  // ln 2 in two parts, the first of which has few bits.
  const r = y - k * 0.6931471803691238 - k * 1.9082149292705877e-10;
  let power = 2.48015873015873e-5 * r + 1.984126984126984e-4;
  power = power * r + 1.388888888888889e-3;
  power = power * r + 8.333333333333333e-3;
  power = power * r + 4.1666666666666664e-2;
  power = power * r + 0.16666666666666666;
  power = power * r + 0.5;
  power = power * r + 1;
  power = power * r + 1;
  return 1 / (1 + power * 2 ** k);
}
