/** Which sizes does a user give to a model whose sizes are free? `--dim NAME=SIZE` and `--shape INPUT=1x3x224x224`. */
import type { Model } from '../../onnx/ir/model.js';
import { assertPinsKnown, listPinnable, type PinnedDim, type Pins } from '../../onnx/surgery/pin-shapes.js';

export interface PinOptions {
  readonly dim: Readonly<Record<string, number>>;
  readonly shape: Readonly<Record<string, readonly PinnedDim[]>>;
}

/** @throws OnnxError `pin-unknown` for what none of `models` has. */
export function pinsOf({ dim, shape }: PinOptions, models: readonly Model[]): Pins {
  const pins: Pins = { dims: dim, shapes: shape, batch: 'free' };
  assertPinsKnown(pins, models.map(listPinnable));
  return pins;
}
