/** Lines over parallel axes: those that cover each other are one, which names all its points. */
import { findOwnPlace, groupLines, nameLine } from '../../../src/web/page/runs/group-lines.js';
import { axesOf, type Point } from '../../../src/web/page/runs/point-axes.js';

const pointOf = (name: string, preset: string, AP: number | undefined): Point => ({
  name,
  params: { preset },
  figures: AP === undefined ? {} : { AP },
});
const scale = { x: (index: number) => index * 100, y: (share: number) => 100 - share * 100 };
const groupsOf = (points: readonly Point[], front: readonly string[] = []) => groupLines(points, axesOf(points, ['AP']), scale, front);

const POINTS = [pointOf('r4', 'a8w8', 0.5), pointOf('r3', 'xint8', 0.25), pointOf('r2', 'a8w8', 0.5), pointOf('r1', 'xint8', 0.5)];

describe('lines over parallel axes', () => {
  it('are one where they are equal on all axes', () => {
    expect(groupsOf(POINTS).map(({ shown, points, places }) => [shown.name, points.map(({ name }) => name), places])).toEqual([
      ['r4', ['r4', 'r2'], ['0,100.0', '100,0.0']],
      ['r3', ['r3'], ['0,0.0', '100,100.0']],
      ['r1', ['r1'], ['0,0.0', '100,0.0']],
    ]);
  });

  it('stand for the point of the Pareto front', () => {
    expect(groupsOf(POINTS, ['r2'])[0]?.shown.name).toBe('r2');
  });

  it('are drawn where a figure lacks, and not without any place', () => {
    const points = [pointOf('r2', 'a8w8', undefined), pointOf('r1', 'xint8', 0.5), { name: 'r0', params: {}, figures: {} }];
    expect(groupsOf(points).map(({ shown, places }) => [shown.name, places.length])).toEqual([
      ['r2', 1],
      ['r1', 2],
    ]);
  });

  it('have their number at the last place of their own', () => {
    const groups = groupsOf(POINTS);
    expect(groups.map(group => findOwnPlace(group, groups))).toEqual(['0,100.0', '100,100.0', '100,0.0']);
  });

  it('name all their points, and the one that a click picks', () => {
    const [both, one] = groupsOf(POINTS, ['r2']);
    expect(both && nameLine(both)).toEqual(['r2, r4', 'A click picks r2.']);
    expect(one && nameLine(one)).toEqual(['r3']);
    const points = Array.from({ length: 15 }, (_, index) => pointOf(`r${index}`, 'a8w8', 0.5));
    const [shown = pointOf('', '', 0)] = points;
    expect(nameLine({ shown, points })[0]).toMatch(/^r0, r1, .*, r11 and 3 more$/);
  });
});
