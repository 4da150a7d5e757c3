import { describeGroup, groupDots } from '../../../src/web/page/runs/group-dots.js';

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

describe('the tooltip of a dot', () => {
  const groupOf = (...points: readonly (readonly [string, number, number])[]) => {
    const dots = points.map(point => dotAt(...point));
    return { shown: dots[0] as (typeof dots)[number], dots };
  };
  const told = (group: ReturnType<typeof groupOf>) => describeGroup(group, ['size', 'box.AP']);

  it('has the figures of a point', () => {
    expect(told(groupOf(['r1', 2000, 0.25]))).toEqual(['r1', 'size: 2.0 kB', 'box.AP: 0.25']);
  });

  it('has figures once where all points have them', () => {
    expect(told(groupOf(['r2', 2000, 0.25], ['r1', 2000, 0.25]))).toEqual([
      'r2',
      'r1',
      'size: 2.0 kB',
      'box.AP: 0.25',
      'A click picks r2.',
    ]);
  });

  it('has the figures of each point where they differ', () => {
    expect(told(groupOf(['r2', 2000, 0.25], ['r1', 2000, 0.26]))).toEqual([
      'r2 (size: 2.0 kB, box.AP: 0.25)',
      'r1 (size: 2.0 kB, box.AP: 0.26)',
      'A click picks r2.',
    ]);
  });

  it('names twelve points, the one that a click picks among them', () => {
    const { dots } = groupOf(...Array.from({ length: 20 }, (_, index) => [`r${index}`, 1, index] as const));
    const lines = describeGroup({ shown: dotAt('r19', 1, 19), dots }, ['x', 'y']);
    expect(lines).toHaveLength(14);
    expect(lines[0]).toContain('r19 (');
    expect(lines[12]).toBe('and 8 more');
  });
});
