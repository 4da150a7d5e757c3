/** Power-of-two scales: real = integer · 2^−position. Hardware applies them by shifts. */

/** Positions whose scales are normal float32 numbers. */
export const POSITIONS = { low: -127, high: 126 } as const;

/** Smallest normal float32. Some processors flush smaller scales to zero. */
export const MIN_SCALE = 2 ** -POSITIONS.high;

/** 2^−position. */
export function scaleAt(position: number): number {
  return 2 ** -position;
}

/**
 * The position whose scale is nearest to `scale` in the logarithm (−log2, rounded). Its scale can be smaller, so that the range shrinks by up to √2.
 * @see Vitis AI quantizer for ONNX, vai_q_onnx: scale2pos.
 */
export function nearestPosition(scale: number): number {
  const below = floorLog2(scale);
  // log2 lies halfway between two integers only at √2 times a power of two, which is not a double.
  return clamp(-(scale / 2 ** below > Math.SQRT2 ? below + 1 : below));
}

/** The largest position whose scale is at least `scale`. */
export function positionNotBelow(scale: number): number {
  const below = floorLog2(scale);
  return clamp(-(2 ** below === scale ? below : below + 1));
}

/** The position of a scale that is a power of two; undefined for others. */
export function findPosition(scale: number): number | undefined {
  const exponent = floorLog2(scale);
  return 2 ** exponent === scale ? -exponent + 0 : undefined;
}

/** floor(log2 x), exact: Math.log2 gives the first guess, powers of two correct it. */
function floorLog2(x: number): number {
  const guess = Math.floor(Math.log2(x));
  if (2 ** guess > x) return guess - 1;
  return 2 ** (guess + 1) <= x ? guess + 1 : guess;
}

function clamp(position: number): number {
  return Math.min(Math.max(position, POSITIONS.low), POSITIONS.high) + 0;
}
