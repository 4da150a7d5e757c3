/** Bounds on positions around one operator. A target profile has them; the plugin passes them. */

type Bounds = readonly [low: number, high: number];

/** Inclusive. w, i, o, b are the positions of weight, input, output and bias. */
export interface PositionLimits {
  /** w + i − o of Conv, ConvTranspose, Gemm. */
  readonly cut: Bounds;
  /** w + i − b; the lower bound falls by what the cut leaves. */
  readonly bias: Bounds;
  /** Largest difference between the inputs of Add and Sub. */
  readonly read: number;
  /** min(i) − o of Add and Sub. */
  readonly addWrite: Bounds;
  /** Σ i − o of Mul. */
  readonly mulWrite: Bounds;
  /** Operators whose inputs and outputs must all have one position. */
  readonly aligned: readonly string[];
  /** Of HardSigmoid: i, the smallest o, and 14 + i − o. */
  readonly hardSigmoid?: { readonly input: Bounds; readonly output: number; readonly shift: Bounds };
  /** Σ i − o of a Mul with the HardSigmoid of its other input. */
  readonly swish?: Bounds;
}
