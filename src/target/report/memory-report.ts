/** The memory plan of an NPU part, as plain JSON of the compile report: computed from sizes and lifetimes, not measured. */

export type MemoryReport = {
  readonly alignmentBytes: number;
  /** Size of the arena of all activations of a part, as planned. */
  readonly peakBytes: number;
  /** No arena can be smaller: the largest sum of sizes that are live at one unit. */
  readonly boundBytes: number;
  readonly gapBytes: number;
  /** Without reuse of memory. */
  readonly sumBytes: number;
  /** Id of the first unit at which `boundBytes` are live. */
  readonly peakUnit: number;
  /** Ids of the units that the device itself runs, in order: the steps of `tensors`. */
  readonly units: readonly number[];
  readonly tensors: readonly PlacedTensor[];
  /** Only if the profile states the size of on-chip memory. */
  readonly onChip?: OnChipReport;
};

/** An activation, with its place in the arena. It is live from step `first` to step `last`, both included. */
export type PlacedTensor = {
  readonly name: string;
  readonly bytes: number;
  readonly offset: number;
  readonly first: number;
  readonly last: number;
};

export type OnChipReport = {
  /** Size of on-chip memory by the profile. */
  readonly bytes: number;
  /** One per step. */
  readonly units: readonly StripReport[];
};

/**
 * How a unit's inputs, outputs and weights fit into on-chip memory. fits: all of it at once. rows: in strips of output rows.
 * too-large: not even single rows. unknown: not an operator that computes rows from a window of rows.
 */
export type StripReport = {
  readonly fit: 'fits' | 'rows' | 'too-large' | 'unknown';
  /** Inputs, outputs and weights. */
  readonly bytes: number;
  /** Only for `rows`: the strips that move the fewest bytes to and from main memory. */
  readonly strips?: RowStrips;
};

export type RowStrips = {
  readonly count: number;
  /** Output rows per strip; the last strip may have fewer. */
  readonly rows: number;
  /** resident: weights are read once. streamed: they are read again for each strip, one output channel at a time. */
  readonly weights: 'resident' | 'streamed';
  /** To and from main memory per run: inputs with the rows that strips share, weights as often as they are read, and outputs. */
  readonly trafficBytes: number;
};
