/** The figures that miss a threshold of verify. */
import type { ComparisonFigures } from '../../../src/tensor/compare.js';
import { judge } from '../../../stages/verify/judge.js';

const equal: ComparisonFigures = { elements: 8, maxAbs: 0, cosine: 1, sqnrDb: 'equal', broken: 0 };
const missed = (figures: ComparisonFigures, thresholds: Parameters<typeof judge>[2]): readonly string[] =>
  judge(new Map([['a', figures]]), undefined, thresholds).missed;

describe('a value', () => {
  it('with no difference meets every threshold', () => {
    expect(missed(equal, { maxAbs: 0, minSqnrDb: 120, minCosine: 1 })).toEqual([]);
  });

  it('with a bound but without elements misses it', () => {
    const nothing = { ...equal, elements: 0 };
    expect(missed(nothing, { minSqnrDb: { a: 20 } })).toEqual([expect.stringContaining('a: nothing was compared')]);
    expect(missed(nothing, { minSqnrDb: { b: 20 } })).toEqual([]);
  });

  it('with any bound misses it if elements are NaN on only one side', () => {
    const broken = { ...equal, broken: 2 };
    expect(missed(broken, { minCosine: 0.5 })).toEqual(['a: 2 elements are NaN or infinite on only one side']);
    expect(missed(broken, { maxAbs: { b: 1 } })).toEqual([]);
  });
});
