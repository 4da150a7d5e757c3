/** Gates: the verdict, and the reasons that a stage states for a missed one. */
import { checkGate } from '../../../../src/engine/model/gate-result.js';
import type { Gate, StageId } from '../../../../src/engine/model/plan.js';
import { spanAt } from '../../../support/report-of.js';

const gate: Gate = { metric: 'total.share', operator: '>=', bound: 0.99, span: spanAt(1) };
const check = (metrics: Parameters<typeof checkGate>[2]) => checkGate('compile' as StageId, gate, metrics);

describe('a gate', () => {
  it('has the reasons of the metric if it is missed', () => {
    const reasons = { 'total.share': ['Conv "a": too large', 'Resize "b"'], 'other.share': ['another'] };
    expect(check({ total: { share: 0.9 }, reasons })).toMatchObject({ verdict: 'missed', reasons: reasons['total.share'] });
    expect(check({ total: { share: 1 }, reasons })).toEqual({ stage: 'compile', gate, value: 1, verdict: 'met' });
  });

  it('finds them below the name of a port', () => {
    const metrics = { total: { share: 0.9, reasons: { share: ['why'] } }, other: { share: 1 } };
    expect(check(metrics)).toMatchObject({ verdict: 'missed', reasons: ['why'] });
  });

  it('has at most ten, each one line without control characters', () => {
    const reasons = {
      'total.share': [3, 'a\n\u001b[2Jb', 'x'.repeat(2000), ...Array.from({ length: 30 }, (_, index) => `reason ${index}`)],
    };
    const { reasons: shown } = check({ total: { share: 0 }, reasons });
    expect(shown?.slice(0, 3)).toEqual(['a [2Jb', `${'x'.repeat(1000)}…`, 'reason 0']);
    expect(shown).toHaveLength(9);
  });

  it.each([
    ['none', { total: { share: 0.9 } }],
    ['those of another metric', { total: { share: 0.9 }, reasons: { share: ['why'] } }],
    ['a figure of that name', { total: { share: 0.9 }, reasons: 3 }],
    ['a text that is no list', { total: { share: 0.9 }, reasons: { 'total.share': 'why' } }],
  ])('has no reasons with %s', (_, metrics) => {
    expect(check(metrics)).toEqual({ stage: 'compile', gate, value: 0.9, verdict: 'missed' });
  });
});
