/** Conversion of state dicts to float32. */
import { toFloat32State } from '../../../../src/detection/network/float-state.js';
import { decodeRawTensor, encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type RawTensor, type Tensor } from '../../../../src/tensor/tensor.js';

const stateOf = (tensors: Record<string, Tensor>): Map<string, RawTensor> =>
  new Map(Object.entries(tensors).map(([key, tensor]) => [key, encodeRawTensor(tensor)]));

describe('weights of other dtypes', () => {
  it('become float32 with the same values', () => {
    const { state, converted } = toFloat32State(
      stateOf({
        half: makeTensor('float16', [2], Uint16Array.of(0x3c00, 0xc100)),
        brain: makeTensor('bfloat16', [1], Uint16Array.of(0x3fc0)),
        double: makeTensor('float64', [1], Float64Array.of(0.1)),
        single: makeTensor('float32', [1], Float32Array.of(7)),
        counter: makeTensor('int64', [], BigInt64Array.of(3n)),
      }),
    );
    const values = (key: string): unknown => {
      const raw = state.get(key);
      return raw === undefined ? undefined : [raw.dtype, ...(decodeRawTensor(raw).data as Iterable<unknown>)];
    };
    expect(values('half')).toEqual(['float32', 1, -2.5]);
    expect(values('brain')).toEqual(['float32', 1.5]);
    expect(values('double')).toEqual(['float32', Math.fround(0.1)]);
    expect(values('single')).toEqual(['float32', 7]);
    expect(values('counter')).toEqual(['int64', 3n]);
    expect(converted).toEqual({ float16: 1, bfloat16: 1, float64: 1 });
  });
});
