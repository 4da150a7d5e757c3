/** A sample for a model without a detector: an id and tensors for the inputs, read on demand. */
import type { NamedTensors } from '../session/model-inputs.js';

export interface ModelSample {
  /** Unique in its data set. */
  readonly id: string;
  /** The file or folder of the sample, relative to the data set. */
  readonly source: string;
  /** Reads the feeds by input name. Callers keep one sample in memory at a time. */
  read(): Promise<NamedTensors>;
}
