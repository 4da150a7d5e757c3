/** Traces of images as files: what is read is what was written, bit for bit and in its order, and damaged files are errors. */
import type { ObjectMasks } from '../../../../src/detection/detector/detector.js';
import { decodeTraced, encodeTraced, sizeOfTraced, type TracedImage } from '../../../../src/detection/detector/saved-trace.js';
import { decodeSafetensors, encodeSafetensors } from '../../../../src/tensor/formats/safetensors.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';

const NO_MASKS: ObjectMasks = { kind: 'none' };

function makeTraced(masks: ObjectMasks, further: { readonly maskScores?: Float32Array; readonly keypoints?: boolean } = {}): TracedImage {
  const keypoints = { count: 2, data: Float32Array.of(1, 2, 0, 3, 4, 1) };
  return {
    image: { width: 3, height: 1, data: Uint8Array.of(0, 1, 2, 253, 254, 255, 7, 8, 9) },
    trace: {
      inputs: {
        second: { 'b/1': makeTensor('float32', [1, 2], Float32Array.of(-0, Number.NaN)) },
        first: { z: makeTensor('float32', [0, 4], new Float32Array()), a: makeTensor('float32', [1], Float32Array.of(1e-45)) },
      },
      outputs: { second: { y: makeTensor('float32', [2, 1], Float32Array.of(Number.POSITIVE_INFINITY, 3.5)) } },
      objects: {
        size: { height: 1, width: 3 },
        boxes: Float32Array.of(-0.5, 0, 1, 2),
        scores: Float32Array.of(0.9),
        labels: Int32Array.of(17),
        masks,
        ...(further.maskScores === undefined ? {} : { maskScores: further.maskScores }),
        ...(further.keypoints === true ? { keypoints } : {}),
      },
    },
  };
}

const MASKS: readonly (readonly [string, ObjectMasks])[] = [
  ['no masks', NO_MASKS],
  ['square masks', { kind: 'squares', side: 2, threshold: 0.1, data: Float32Array.of(0, 0.25, 0.5, 1) }],
  ['masks in runs', { kind: 'runs', masks: [{ height: 1, width: 3, counts: Uint32Array.of(0, 2, 1) }] }],
];

describe('saved traces', () => {
  it.each(MASKS)('with %s are read as they were written', (_, masks) => {
    const traced = makeTraced(masks, { maskScores: Float32Array.of(0.3), keypoints: true });
    const read = decodeTraced(encodeTraced(traced));
    expect(read).toEqual(traced);
    expect(decodeTraced(encodeTraced(makeTraced(masks)))).toEqual(makeTraced(masks));
    // The report lists values in this order.
    expect(Object.keys(read.trace.inputs)).toEqual(['second', 'first']);
    expect(Object.keys(read.trace.inputs.first ?? {})).toEqual(['z', 'a']);
  });

  it('without the image are read without it', () => {
    const { trace } = makeTraced(NO_MASKS);
    expect(decodeTraced(encodeTraced({ trace }))).toEqual({ trace });
    expect(sizeOfTraced({ trace })).toBe(4 * (2 + 0 + 1 + 2));
  });

  it('have equal bytes for equal traces', () => {
    expect(encodeTraced(makeTraced(NO_MASKS))).toEqual(encodeTraced(makeTraced(NO_MASKS)));
  });

  it('have inputs with memory of their own, of which a message to a thread copies no more', () => {
    const { trace } = decodeTraced(encodeTraced(makeTraced(NO_MASKS)));
    expect(trace.inputs.second?.['b/1']?.data.buffer.byteLength).toBe(8);
  });

  it('count the pixels and the values of parts', () => {
    expect(sizeOfTraced(makeTraced(NO_MASKS))).toBe(9 + 4 * (2 + 0 + 1 + 2));
  });

  it.each([
    ['no record', new Map<string, string>(), 'does not fit'],
    ['a tensor that is not there', new Map([['trace', recordWith({ image: '77' })]]), 'no uint8 tensor 77'],
    ['an image of another type', new Map([['trace', recordWith({ image: '1' })]]), 'no uint8 tensor 1'],
  ])('with %s are an error', async (_, metadata, message) => {
    const { tensors } = decodeSafetensors(encodeTraced(makeTraced(NO_MASKS)));
    const failure = await failureOf(() => decodeTraced(encodeSafetensors(tensors, metadata)));
    expect(failure).toMatchObject({ code: 'bad-record', message: expect.stringContaining(message) });
  });

  it('with an image of one channel are an error', async () => {
    const { tensors, metadata } = decodeSafetensors(encodeTraced(makeTraced(NO_MASKS)));
    const gray = new Map([...tensors].map(([name, tensor]) => [name, tensor.dtype === 'uint8' ? { ...tensor, dims: [3, 3, 1] } : tensor]));
    expect(await failureOf(() => decodeTraced(encodeSafetensors(gray, metadata)))).toMatchObject({ code: 'bad-record' });
  });

  it('that are cut off are an error', async () => {
    expect((await failureOf(() => decodeTraced(encodeTraced(makeTraced(NO_MASKS)).subarray(0, -1)))).code).toBe('truncated');
  });
});

function recordWith(changed: Readonly<Record<string, unknown>>): string {
  const { metadata } = decodeSafetensors(encodeTraced(makeTraced(NO_MASKS)));
  return JSON.stringify({ ...(JSON.parse(metadata.get('trace') ?? '') as object), ...changed });
}
