/** Calibration samples, independent of their source. */
import type { SampleFile } from './sample-file.js';

export interface CalibrationSample {
  /** An image id, a file, or the id of a captured sample. */
  readonly id: string;
  /** Relative to the data set. */
  readonly source: string;
  /** "image 7 (cat.jpg)", for messages. */
  readonly label: string;
  /** Returns the model's inputs for this sample. Found again, it has the same content. */
  find(): Promise<SampleInput>;
}

/** A file with the model's inputs, `rows` along their first axis; or the reason why the sample is skipped. */
export type SampleInput =
  | {
      readonly kind: 'input';
      readonly file: SampleFile;
      readonly rows: number;
      /** Removes the file after a pass: it is written again when the sample is found again. */
      readonly remove?: () => Promise<void>;
    }
  | { readonly kind: 'left-out'; readonly reason: string };

export interface CalibrationSamples {
  /** The part of a detector that the model is; 'model' for other models. */
  readonly part: string;
  readonly samples: readonly CalibrationSample[];
}

export function tooFewRows(rows: number, min: number): SampleInput {
  return { kind: 'left-out', reason: `it has ${rows} RoI${rows === 1 ? '' : 's'}, fewer than ${min}` };
}
