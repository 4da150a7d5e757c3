/** Who computes constants for the passes? A function that src/runtime supplies: the library itself runs no model. */
import type { Tensor } from '../../tensor/tensor.js';
import type { Model } from '../ir/model.js';

/** Runs a model that has no inputs and returns its outputs by name. */
export type Evaluate = (model: Model) => Promise<Readonly<Record<string, Tensor>>>;
