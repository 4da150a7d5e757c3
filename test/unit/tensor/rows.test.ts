/** Tests of repeating, slicing and padding rows of tensors. */
import { sliceRows, takeRows } from '../../../src/tensor/rows.js';
import { makeTensor } from '../../../src/tensor/tensor.js';

const floats = makeTensor('float32', [2, 2], new Float32Array([1, 2, 3, 4]));

it('repeats rows from the front', () => {
  expect(takeRows(floats, 5)).toEqual(makeTensor('float32', [5, 2], new Float32Array([1, 2, 3, 4, 1, 2, 3, 4, 1, 2])));
  expect(takeRows(makeTensor('int64', [2], new BigInt64Array([5n, 6n])), 3).data).toEqual(new BigInt64Array([5n, 6n, 5n]));
});

it('copies nothing if the rows are contiguous', () => {
  expect(takeRows(floats, 1)).toEqual(makeTensor('float32', [1, 2], new Float32Array([1, 2])));
  expect(sliceRows(floats, 1, 1)).toEqual(makeTensor('float32', [1, 2], new Float32Array([3, 4])));
  const views = [takeRows(floats, 2), sliceRows(floats, 1, 1)].map(({ data }) => (data as Float32Array).buffer === floats.data.buffer);
  expect(views).toEqual([true, true]);
});

it('fills with zeros beyond the end', () => {
  expect(sliceRows(floats, 1, 2)).toEqual(makeTensor('float32', [2, 2], new Float32Array([3, 4, 0, 0])));
  expect(sliceRows(floats, 2, 1).data).toEqual(new Float32Array(2));
});

it.each([
  makeTensor('float32', [], new Float32Array(1)),
  makeTensor('float32', [0, 3], new Float32Array(0)),
  makeTensor('int4', [3], new Uint8Array(2)),
  makeTensor('string', [1], ['a']),
])('refuses what has no rows: $dtype $dims', tensor => {
  expect(() => takeRows(tensor, 1)).toThrow('no rows');
});
