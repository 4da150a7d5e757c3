/** A comparison after the answers of its worker: a file that is another one is matched again, and not without end. */
import { afterAnswer, type MatchState, NOTHING_MATCHED, stateOf } from '../../../src/web/page/results/match-state.js';
import type { MatchResult } from '../../../src/web/page/results/result-types.js';

type Answer = Parameters<typeof afterAnswer>[1];

const result = {} as MatchResult;
const masks = { left: [], right: [], truth: [] };
const CHANGED: Answer = { kind: 'changed', image: 3 };
const MATCHED: Answer = { kind: 'matched', result };

const play = (answers: readonly Answer[], from: MatchState = stateOf(NOTHING_MATCHED, 'a b')): MatchState =>
  answers.reduce(afterAnswer, from);

describe('a file that is another one than was matched', () => {
  it('lets all be matched again', () => {
    const { reading, masks: outlined } = play([MATCHED, CHANGED]);
    expect(reading).toBe(1);
    expect(outlined).toBeUndefined();
  });

  it('and still is another one is a problem of the masks, for every image', () => {
    const stuck = play([MATCHED, CHANGED, { kind: 'images', images: [] }, MATCHED, CHANGED]);
    expect(stuck).toMatchObject({ reading: 1, result, masks: { image: 3, problem: expect.stringContaining('reload the page') } });
    expect(play([{ kind: 'changed', image: 4 }], stuck)).toMatchObject({ reading: 1, masks: { image: 4 } });
  });

  it('is matched again each time where masks were outlined between', () => {
    expect(play([CHANGED, MATCHED, { kind: 'masks', image: 3, masks }, CHANGED]).reading).toBe(2);
    expect(play([CHANGED, MATCHED, { kind: 'no-masks', image: 3, message: 'no' }, CHANGED]).reading).toBe(1);
  });

  it('is matched again in another comparison', () => {
    const other = stateOf(play([CHANGED]), 'c d');
    expect(other).toEqual({ key: 'c d', reading: 1, isRepeated: false });
    expect(play([CHANGED], other).reading).toBe(2);
  });
});

describe('masks', () => {
  it('that are missing in part have the others and the reason', () => {
    expect(play([MATCHED, { kind: 'masks', image: 3, masks, problem: 'why' }])).toMatchObject({
      result,
      masks: { masks, problem: 'why' },
    });
  });

  it('that are missing have the reason', () => {
    expect(play([MATCHED, { kind: 'no-masks', image: 3, message: 'why' }])).toMatchObject({ masks: { image: 3, problem: 'why' } });
  });
});

it('an error of a comparison takes the place of its result', () => {
  expect(play([MATCHED, { kind: 'problem', message: 'why' }])).toMatchObject({ error: { message: 'why' } });
});
