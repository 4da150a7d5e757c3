/** What is one sample of a calibration, wherever it comes from? */
import type { SampleFile } from './sample-file.js';

export interface CalibrationSample {
  /** An image id, a file, or the id that it was captured under. */
  readonly id: string;
  /** Relative to the data set. */
  readonly source: string;
  /** "image 7 (cat.jpg)", for messages. */
  readonly label: string;
  /** Gives what the model is fed. */
  find(): Promise<SampleInput>;
}

/** A file with the model's inputs, their first axis `rows` long; or nothing, and why. */
export type SampleInput =
  | { readonly kind: 'input'; readonly file: SampleFile; readonly rows: number }
  | { readonly kind: 'left-out'; readonly reason: string };

export interface CalibrationSamples {
  /** The part of a detector that the model is; 'model' where it is none. */
  readonly part: string;
  readonly samples: readonly CalibrationSample[];
}

export function tooFewRows(rows: number, min: number): SampleInput {
  return { kind: 'left-out', reason: `it has ${rows} RoI${rows === 1 ? '' : 's'}, fewer than ${min}` };
}
