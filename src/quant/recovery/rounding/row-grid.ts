/** The integers that a row of weights can take. */

/** Scale and zero point of each weight of a row, and the limits of the integers. */
export interface RowGrid {
  readonly scales: ArrayLike<number>;
  readonly zeroPoints: ArrayLike<number>;
  readonly low: number;
  readonly high: number;
}
