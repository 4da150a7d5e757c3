/** What the view "Pipeline" says about stages. */
import type { Gate, StageId } from '../../../src/engine/model/plan.js';
import { gatesOf, reasonsOf } from '../../../src/web/views/pipeline-view.js';

describe('gates', () => {
  const span = { file: 'pipeline.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };
  const gate: Gate = { metric: 'npuShare', operator: '>=', bound: 0.9, span };
  const stage = { id: 'compile' as StageId, gate: [gate] };

  it('that are missed have the reasons that the stage states', () => {
    const metrics = { npuShare: 0.5, reasons: { npuShare: ['Conv "a" is too wide'] } };
    expect(gatesOf(stage, { metrics })).toEqual([
      { metric: 'npuShare', bound: '>= 0.9', value: 0.5, verdict: 'missed', reasons: ['Conv "a" is too wide'] },
    ]);
  });

  it('of a stage without a result are unknown', () => {
    expect(gatesOf(stage, undefined)).toEqual([{ metric: 'npuShare', bound: '>= 0.9', verdict: 'unknown' }]);
  });
});

it('a stage that cannot run has the next step beside the reason', () => {
  const failure = { code: 'x', message: 'it was rebuilt', details: null, causes: [], stack: undefined, logPath: undefined };
  const reasons = (help: string | undefined) => reasonsOf({ status: { kind: 'impossible', failure: { ...failure, help } }, causes: [] });
  expect(reasons('start it again')).toEqual(['it was rebuilt', 'start it again']);
  expect(reasons(undefined)).toEqual(['it was rebuilt']);
});
