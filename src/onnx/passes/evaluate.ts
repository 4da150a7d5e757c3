/** The function that computes constants for passes. src/runtime supplies it, because src/onnx does not run models. */
import type { Tensor } from '../../tensor/tensor.js';
import type { Model } from '../ir/model.js';

/** Runs a model without inputs and returns its outputs by name. */
export type Evaluate = (model: Model) => Promise<Readonly<Record<string, Tensor>>>;
