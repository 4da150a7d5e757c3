/** A model as it is connected. */
import type { Model } from '../../src/onnx/ir/model.js';

export interface GivenModel {
  readonly name: string;
  readonly model: Model;
  readonly path: string;
}
