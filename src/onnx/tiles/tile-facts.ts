/** Facts about values whose rows lie as tiles on one canvas, and the arithmetic of pitches. */

/** Of both spatial axes. */
export type Pair<T> = readonly [height: T, width: T];

/** A positive rational number. The pitch of a value is that of the canvas at the inputs times this number. */
export interface Ratio {
  readonly up: number;
  readonly down: number;
}

/**
 * A value [N, C, h, w], or [N, C·h·w] behind a Flatten, on the canvas [1, C, H, W]. Row r = i·b + j of a grid a × b starts at position (i·pitch, j·pitch).
 */
export interface TileFacts {
  readonly channels: number;
  readonly tile: Pair<number>;
  /** 'cells': one element per tile. The pitch is 1, or what a strided Conv instead of a Gemm leaves. */
  readonly scale: Pair<Ratio> | 'cells';
  /** 'flat': the value has rank 2 in the model that runs rows. */
  readonly layout: 'map' | 'flat';
  /** Whether the positions between the tiles are proved to be zero. */
  readonly gap: 'zero' | 'unknown';
  readonly sign: 'nonnegative' | 'any';
}

/** A condition on the pitch of a value along one axis: at least `least`, and a multiple of `multiple`. */
export interface PitchNeed {
  readonly axis: 0 | 1;
  readonly scale: Ratio;
  readonly least: number;
  readonly multiple: number;
  /** What needs it, for messages. */
  readonly what: string;
}

export const ONE: Ratio = { up: 1, down: 1 };

export function timesRatio({ up, down }: Ratio, by: Ratio): Ratio {
  const [top, bottom] = [up * by.up, down * by.down];
  const divisor = greatestCommonDivisor(top, bottom);
  return { up: top / divisor, down: bottom / divisor };
}

export const sameRatio = (a: Ratio, b: Ratio): boolean => a.up === b.up && a.down === b.down;

/** `pitch` times the ratio. The caller has checked that it is an integer. */
export const scalePitch = (pitch: number, { up, down }: Ratio): number => (pitch * up) / down;

/** Whether two values lie on equal canvases. */
export function sameCanvas(a: TileFacts, b: TileFacts): boolean {
  if (a.tile[0] !== b.tile[0] || a.tile[1] !== b.tile[1] || a.layout !== b.layout) return false;
  if (a.scale === 'cells' || b.scale === 'cells') return a.scale === b.scale;
  return sameRatio(a.scale[0], b.scale[0]) && sameRatio(a.scale[1], b.scale[1]);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
