/** Which figures miss a threshold of verify? */
import type { ComparisonFigures } from '../../../src/tensor/compare.js';
import { judge } from '../../../stages/verify/judge.js';

const equal: ComparisonFigures = { elements: 8, maxAbs: 0, cosine: 1, sqnrDb: 'equal', broken: 0 };
const missed = (figures: ComparisonFigures, thresholds: Parameters<typeof judge>[2]): readonly string[] =>
  judge(new Map([['a', figures]]), undefined, thresholds).missed;

describe('a value', () => {
  it('that is equal meets every threshold', () => {
    expect(missed(equal, { maxAbs: 0, minSqnrDb: 120, minCosine: 1 })).toEqual([]);
  });

  it('with a bound, but nothing to compare, misses it', () => {
    const nothing = { ...equal, elements: 0 };
    expect(missed(nothing, { minSqnrDb: { a: 20 } })).toEqual([expect.stringContaining('a: nothing was compared')]);
    expect(missed(nothing, { minSqnrDb: { b: 20 } })).toEqual([]);
  });

  it('with a bound of any kind misses it where elements are NaN on one side alone', () => {
    const broken = { ...equal, broken: 2 };
    expect(missed(broken, { minCosine: 0.5 })).toEqual(['a: 2 elements are NaN or infinite on one side']);
    expect(missed(broken, { maxAbs: { b: 1 } })).toEqual([]);
  });
});
