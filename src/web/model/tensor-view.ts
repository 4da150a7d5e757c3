/** A value of a model on one captured sample or image, and its counterpart in another model. */
import type { FitPolicy } from '../../detection/detector/detector-family.js';
import type { Preprocessing } from '../../detection/image/preprocessing-schema.js';
import type { SessionOptions } from '../../runtime/session/session.js';
import type { ComparisonFigures } from '../../tensor/compare.js';

/** What the process that runs the models is asked. Paths are absolute. */
export interface TensorOrder {
  readonly model: string;
  /** A model to compare with; its value is found by name, or by equal computation. */
  readonly other: string | undefined;
  readonly value: string;
  readonly fed: CapturedFeed | ImageFeed | NetworkFeed;
}

/** A sample of a stage that uses `capture`. */
export interface CapturedFeed {
  readonly kind: 'captured';
  /** Its output folder. */
  readonly folder: string;
  /** Index of the sample. */
  readonly sample: number;
}

/** What a detector gives its parts for an image. */
export interface ImageFeed {
  readonly kind: 'image';
  readonly image: string;
  /** The models of the parts. */
  readonly parts: Readonly<Record<string, string>>;
  readonly recipe: string;
  readonly config: string | undefined;
  /** Params of the stage. */
  readonly fit?: FitPolicy;
  readonly optimization?: SessionOptions['optimization'];
}

/** What a classifier is given for an image. */
export interface NetworkFeed {
  readonly kind: 'network';
  readonly image: string;
  /** Param of the stage. */
  readonly preprocess: Preprocessing;
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
