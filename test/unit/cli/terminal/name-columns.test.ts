import { makeStageList } from '../../../../src/cli/render/stage-list.js';
import { cutWithMark, nameColumns } from '../../../../src/cli/terminal/display-width.js';
import type { StageId } from '../../../../src/engine/model/plan.js';

describe('names before texts', () => {
  it.each([
    [['a', 'stage'], 80, 5],
    [['a', 'x'.repeat(72)], 80, 40],
    [['量化', 'a'], 80, 4],
    [['x'.repeat(72)], Number.POSITIVE_INFINITY, 72],
    [[], 80, 0],
  ] as const)('%j take, in %d columns, %d', (names, width, columns) => expect(nameColumns(names, width)).toBe(columns));

  it.each([
    ['stage', 5, 'stage'],
    ['stage', 4, 'sta…'],
    ['量化量化', 6, '量化…'],
  ])('%s in %d columns is %s', (name, width, shown) => expect(cutWithMark(name, width)).toBe(shown));

  it('are cut in the list of a round, so that the text of a running stage with a long name stays in the line', () => {
    const list = makeStageList(10);
    const stage = 'a-stage-with-a-long-name' as StageId;
    list.update({ kind: 'stage-started', stage, reasons: ['never built'], attempt: 1 } as never, undefined, 0);
    expect(list.lines(5, 2000)).toEqual([expect.stringMatching(/^ {2}▸ a-stage-w… {2}\S+.* {2}never built$/)]);
  });
});
