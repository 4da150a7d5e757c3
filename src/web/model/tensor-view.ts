/** A value of a model on one captured sample, and its counterpart in another model. */
import type { ComparisonFigures } from '../../tensor/compare.js';

/** What the process that runs the models is asked. Paths are absolute. */
export interface TensorOrder {
  readonly model: string;
  /** A model to compare with; its value is found by name, or by equal computation. */
  readonly other: string | undefined;
  readonly value: string;
  /** The output folder of `capture`. */
  readonly captured: string;
  /** Index of the sample. */
  readonly sample: number;
}

export interface TensorView {
  readonly dims: readonly number[];
  readonly samples: readonly string[];
  readonly own: TensorData;
  readonly other?: TensorData & { readonly figures: ComparisonFigures };
  /** Why there is no counterpart. */
  readonly missing?: string;
}

export interface TensorData {
  readonly value: string;
  /** float32 in little-endian order, row-major, in base64. */
  readonly base64: string;
}

export type TensorAnswer =
  | { readonly kind: 'read'; readonly view: TensorView }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly help?: string | undefined }
  /** A defect. The stack is for the terminal. */
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string };
