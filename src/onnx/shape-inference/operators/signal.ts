/** Shape inference of window functions and Fourier transforms. (ONNX BlackmanWindow, HannWindow, HammingWindow, MelWeightMatrix, DFT, STFT.) */
import { findDTypeByOnnx } from '../../../tensor/dtype.js';
import { getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { resolveAxis } from '../context/dims.js';
import { type InferFunction, type InferTable, known, type NodeContext } from '../context/node-context.js';

const dtypeOf = (c: NodeContext) => findDTypeByOnnx(getInt(c.node, 'output_datatype', 1));
const half = (size: Dim): Dim => (typeof size === 'number' ? Math.floor(size / 2) + 1 : undefined);

const windowFunction: InferFunction = c => [known(dtypeOf(c), [c.elements(0)?.[0]])];

const melWeights: InferFunction = c => [known(dtypeOf(c), [half(c.elements(1)?.[0]), c.elements(0)?.[0]])];

/** The axis is an attribute before opset 20 and then an input; the last axis holds real and imaginary parts. */
const fourier: InferFunction = c => {
  const x = c.dims(0);
  if (x === undefined) return [known(c.dtype(0), undefined)];
  const given = c.opset < 20 ? getInt(c.node, 'axis', 1) : c.has(2) ? c.elements(2)?.[0] : -2;
  const axis = typeof given === 'number' ? resolveAxis(given, x.length) : undefined;
  if (axis === undefined)
    return [
      known(
        c.dtype(0),
        x.map(() => undefined),
      ),
    ];
  const size = c.has(1) ? c.elements(1)?.[0] : x[axis];
  const oneSided = getInt(c.node, 'onesided', 0) !== 0;
  const back = getInt(c.node, 'inverse', 0) !== 0;
  if (oneSided && back)
    return [
      known(
        c.dtype(0),
        x.map((dim, at) => (at === axis ? undefined : at === x.length - 1 ? 1 : dim)),
      ),
    ];
  return [
    known(
      c.dtype(0),
      x.map((dim, at) => (at === axis ? (oneSided ? half(size) : size) : at === x.length - 1 ? 2 : dim)),
    ),
  ];
};

const shortTimeFourier: InferFunction = c => {
  const signal = c.dims(0);
  const step = c.elements(1)?.[0];
  const frame = c.has(3) ? c.elements(3)?.[0] : c.dims(2)?.[0];
  const length = signal?.[1];
  const isKnown = typeof length === 'number' && typeof step === 'number' && typeof frame === 'number' && step > 0;
  const frames = isKnown ? Math.floor((length - frame) / step) + 1 : undefined;
  return [known(c.dtype(0), [signal?.[0], frames, getInt(c.node, 'onesided', 1) !== 0 ? half(frame) : frame, 2])];
};

export const SIGNAL: InferTable = {
  BlackmanWindow: windowFunction,
  HannWindow: windowFunction,
  HammingWindow: windowFunction,
  MelWeightMatrix: melWeights,
  DFT: fourier,
  STFT: shortTimeFourier,
};
