import { groupDots } from '../../../src/web/page/runs/group-dots.js';

const dotAt = (name: string, x: number, y: number) => ({ name, label: name, x, y });
const own = (value: number): number => value;

describe('dots of a scatter', () => {
  it('are one where they have the same place, and stay apart elsewhere', () => {
    const groups = groupDots([dotAt('r3', 10, 10), dotAt('r2', 40, 10), dotAt('r1', 10, 10), dotAt('r0', 10, 20)], own, own, []);
    expect(groups.map(({ shown, dots }) => [shown.name, dots.map(({ name }) => name)])).toEqual([
      ['r3', ['r3', 'r1']],
      ['r2', ['r2']],
      ['r0', ['r0']],
    ]);
  });

  it('are drawn as the one of the Pareto front, which beats its neighbor by less than can be seen', () => {
    const [group] = groupDots([dotAt('r2', 10, 10), dotAt('r1', 11, 10)], own, own, ['r1']);
    expect(group?.shown.name).toBe('r1');
    expect(group?.dots).toHaveLength(2);
  });

  it('are told apart by their places in pixels, and not by their values', () => {
    const dots = [dotAt('r2', 0, 0), dotAt('r1', 1, 0)];
    expect(groupDots(dots, value => value * 100, own, [])).toHaveLength(2);
    expect(groupDots(dots, value => value / 100, own, [])).toHaveLength(1);
  });
});
