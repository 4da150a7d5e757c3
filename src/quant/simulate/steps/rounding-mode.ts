/** How devices round the sums of a layer to the integers of its output. */
import { roundHalfEven } from '../../../base/round-half-even.js';
import type { SimulateParams } from '../../../runtime/device/runner-params.js';

/**
 * `ort`: the integer kernels of ONNX Runtime's CPU provider on x86-64. `tflite`: the reference kernels of TensorFlow Lite.
 * The others shift exact sums, as AMD's NPUs do for scales that are powers of two, and round halves up, to even, or away from zero.
 */
export type RoundingMode = SimulateParams['rounding'];

/** The modes that round exact numbers. */
export type ShiftMode = Exclude<RoundingMode, 'ort' | 'tflite'>;

export function isShiftMode(mode: RoundingMode): mode is ShiftMode {
  return mode !== 'ort' && mode !== 'tflite';
}

/** `x`, an exact number, rounded to an integer. @see XIR: DPU_ROUND, PY3_ROUND and STD_ROUND. */
export function roundExact(x: number, mode: ShiftMode): number {
  switch (mode) {
    case 'pow2-dpu':
      return Math.floor(x + 0.5);
    case 'pow2-py3':
      return roundHalfEven(x);
    case 'pow2-std':
      return x < 0 ? -Math.floor(0.5 - x) : Math.floor(x + 0.5);
  }
}
