/** Axes and the Pareto front of runs and configurations. */
import fc from 'fast-check';
import { axesOf, chooseFigures, differingParams, findFront, numberOf, type Point, placeOn } from '../../../src/web/page/runs/point-axes.js';

const point = (name: string, params: Point['params'], figures: Point['figures'] = {}): Point => ({ name, params, figures });

describe('the figures of a scatter', () => {
  const points = [point('#1', {}, { ap: 0.5, ap50: 0.6, size: 10 }), point('#2', {}, { ap: 0.4, size: 5 })];

  it('are the first objective over the first one with another goal', () => {
    const objectives = [
      { metric: 'ap', goal: 'maximize' },
      { metric: 'ap50', goal: 'maximize' },
      { metric: 'size', goal: 'minimize' },
    ] as const;
    expect(chooseFigures(objectives, points)).toEqual({ x: 'size', y: 'ap', goals: ['least', 'most'] });
    expect(chooseFigures(objectives.slice(0, 2), points)).toEqual({ x: 'ap50', y: 'ap', goals: ['most', 'most'] });
  });

  it('are none where points have fewer than two', () => {
    expect(
      chooseFigures(
        [
          { metric: 'ap', goal: 'maximize' },
          { metric: 'none', goal: 'minimize' },
        ],
        points,
      ),
    ).toBeUndefined();
  });
});

describe('the axes', () => {
  const points = [
    point('r1', { preset: 'xint8', size: 16, same: 1 }, { ap: 0.5, sqnr: 'equal', only: 3 }),
    point('r2', { preset: 'a8w8', size: 64, same: 1 }, { ap: 0.7, sqnr: 20 }),
    point('r3', { preset: 'a16w8', size: 32, same: 1, list: [1] }, { ap: 0.6, sqnr: 40 }),
  ];

  it('are the parameters that differ, by value or by number, then the figures that exist', () => {
    expect(differingParams(points)).toEqual(['preset', 'size', 'list']);
    expect(axesOf(points, ['ap', 'sqnr', 'none', 'only'])).toEqual([
      { kind: 'values', name: 'preset', values: ['a8w8', 'a16w8', 'xint8'] },
      { kind: 'numbers', name: 'size', low: 16, high: 64 },
      { kind: 'values', name: 'list', values: ['[1]'] },
      { kind: 'numbers', name: 'ap', low: 0.5, high: 0.7 },
      { kind: 'numbers', name: 'sqnr', low: 20, high: 40 },
      { kind: 'numbers', name: 'only', low: 3, high: 3 },
    ]);
  });

  it('place each value between their ends, a single one in the middle, and nothing that is absent or infinite', () => {
    const [preset, size, list, , sqnr, only] = axesOf(points, ['ap', 'sqnr', 'only']);
    const places = (axis: typeof preset): unknown => points.map(one => (axis === undefined ? 'none' : placeOn(axis, one)));
    expect([preset, size, list, sqnr, only].map(places)).toEqual([
      [1, 0, 0.5],
      [0, 1, 16 / 48],
      [undefined, undefined, 0.5],
      [undefined, 0, 1],
      [0.5, undefined, undefined],
    ]);
  });

  it('take no figure from the prototype of an object', () => {
    expect(numberOf({ figures: {} }, 'constructor')).toBeUndefined();
  });
});

describe('the Pareto front', () => {
  it('has exactly the points that no other one beats, whatever is better', () => {
    const dots = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })), { maxLength: 20 });
    const goal = fc.constantFrom('most' as const, 'least' as const);
    fc.assert(
      fc.property(dots, goal, goal, (given, goalX, goalY) => {
        const points = given.map(([x, y], index) => point(`p${index}`, {}, { x, y }));
        const front = findFront(points, 'x', 'y', [goalX, goalY]);
        const better = (a: number, b: number, by: 'most' | 'least'): boolean => (by === 'most' ? a > b : a < b);
        for (const [index, [x, y]] of given.entries()) {
          const isBeaten = given.some(
            ([otherX, otherY]) =>
              !better(x, otherX, goalX) && !better(y, otherY, goalY) && (better(otherX, x, goalX) || better(otherY, y, goalY)),
          );
          expect(front.includes(`p${index}`)).toBe(!isBeaten);
        }
        const xs = front.map(name => given[Number(name.slice(1))]?.[0] ?? 0);
        expect(xs).toEqual([...xs].sort((a, b) => a - b));
      }),
    );
  });

  it('is empty without two figures, and leaves out points that lack one', () => {
    const points = [point('a', {}, { x: 1, y: 1 }), point('b', {}, { x: 9 })];
    expect(findFront(points, 'x', undefined, ['most', 'most'])).toEqual([]);
    expect(findFront(points, 'x', 'y', ['most', 'most'])).toEqual(['a']);
  });
});
