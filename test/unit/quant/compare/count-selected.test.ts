/** Counts of equal selections, per operator. */
import { countSelected } from '../../../../src/quant/compare/count-selected.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

const tensor = (dims: readonly number[], values: readonly number[]) => ({
  at: makeTensor('int64', dims, BigInt64Array.from(values, BigInt)),
});
const count = (opType: string, dims: readonly number[], left: readonly number[], right: readonly number[], axis = -1) =>
  countSelected({ value: 'at', opType, axis }, tensor(dims, left), tensor(dims, right));

describe('countSelected', () => {
  it('compares ArgMax place by place', () => {
    expect(count('ArgMax', [2, 3], [1, 2, 3, 1, 2, 3], [2, 1, 3, 1, 2, 0])).toEqual({ selected: 6, common: 3 });
  });

  it('compares TopK lane by lane, in any order, along any axis', () => {
    expect(count('TopK', [2, 3], [1, 2, 3, 4, 5, 6], [3, 1, 9, 1, 2, 3])).toEqual({ selected: 6, common: 2 });
    // Lanes are columns: {1, 4}, {2, 5}, {3, 6} against {4, 1}, {5, 9}, {1, 2}.
    expect(count('TopK', [2, 3], [1, 2, 3, 4, 5, 6], [4, 5, 1, 1, 9, 2], 0)).toEqual({ selected: 6, common: 3 });
    expect(count('TopK', [1, 2, 2], [1, 2, 3, 4], [3, 4, 1, 9], -2)).toEqual({ selected: 4, common: 3 });
  });

  it('compares the elements of NonZero, of which each side has its own number', () => {
    const left = tensor([2, 3], [0, 1, 1, 5, 0, 2]);
    const right = tensor([2, 2], [1, 1, 0, 3]);
    expect(countSelected({ value: 'at', opType: 'NonZero', axis: -1 }, left, right)).toEqual({ selected: 3, common: 1 });
  });

  it('compares the rows of NonMaxSuppression in any order', () => {
    expect(count('NonMaxSuppression', [2, 3], [0, 0, 4, 0, 1, 7], [0, 1, 7, 0, 0, 5])).toEqual({ selected: 2, common: 1 });
  });

  it('counts more positions than a Set holds', () => {
    const many = { at: makeTensor('int64', [1, 4096, 4097], new BigInt64Array(4096 * 4097)) };
    expect(countSelected({ value: 'at', opType: 'ArgMax', axis: 1 }, many, many)).toEqual({ selected: 16781312, common: 16781312 });
  });
});
