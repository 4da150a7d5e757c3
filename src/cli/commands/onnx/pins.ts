/** Converts `--dim NAME=SIZE` and `--shape INPUT=1x3x224x224` to pins of a model's dynamic dims. */
import type { Model } from '../../../onnx/ir/model.js';
import { assertPinsKnown, listPinnable, type PinnedDim, type Pins } from '../../../onnx/surgery/pin-shapes.js';

export interface PinOptions {
  readonly dim: Readonly<Record<string, number>>;
  readonly shape: Readonly<Record<string, readonly PinnedDim[]>>;
}

/** @throws OnnxError `pin-unknown` if a name occurs in none of `models`. */
export function pinsOf({ dim, shape }: PinOptions, models: readonly Model[]): Pins {
  const pins: Pins = { dims: dim, shapes: shape, batch: 'free' };
  assertPinsKnown(pins, models.map(listPinnable));
  return pins;
}
