/** What is one sample of a model that stands for itself? A name, and tensors for its inputs, read when they are needed. */
import type { NamedTensors } from '../session/model-inputs.js';

export interface ModelSample {
  /** Unique in its data set. */
  readonly id: string;
  /** The file or folder it comes from, relative to the data set. */
  readonly source: string;
  /** Reads the feeds, by input name; one sample is in memory at a time. */
  read(): Promise<NamedTensors>;
}
