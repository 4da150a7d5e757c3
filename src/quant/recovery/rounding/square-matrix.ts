/** A square matrix. */

/** Row by row. */
export interface SquareMatrix {
  readonly size: number;
  readonly data: Float32Array | Float64Array;
}
