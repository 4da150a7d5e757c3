/** What a subset of `tanren watch` says about an evaluation without figures. */
import { describeProblem } from '../../../src/cli/commands/build/watch-subset.js';
import type { StageId } from '../../../src/engine/model/plan.js';

const id = (text: string): StageId => text as StageId;
const problem = (stage: string, message: string) => ({ stage: id(stage), code: 'x', message });

describe('an evaluation without figures', () => {
  it('has its own problem, in one line', () => {
    const problems = [problem('quantize', 'other'), problem('evaluate', '32 images are requested, but the data set has only 4\nmore')];
    expect(describeProblem(id('evaluate'), problems)).toBe('32 images are requested, but the data set has only 4');
  });

  it('names the stage before it that has failed', () => {
    expect(describeProblem(id('evaluate'), [problem('quantize', 'no samples')])).toBe('quantize has failed');
    expect(describeProblem(id('evaluate'), [])).toBe('a stage has failed');
  });
});
