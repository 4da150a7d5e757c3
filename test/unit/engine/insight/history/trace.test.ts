/** The timeline of any run conforms to the Trace Event Format. */
import fc from 'fast-check';
import { assignLanes } from '../../../../../src/engine/insight/history/lanes.js';
import type { RunRecord, RunSpan } from '../../../../../src/engine/insight/history/run-record.js';
import { makeTrace } from '../../../../../src/engine/insight/history/trace.js';
import type { CompleteEvent, TraceEvent } from '../../../../../src/engine/insight/history/trace-event.js';
import { ranStage, runOf } from '../../../../support/run-of.js';

const span = (what: RunSpan['what'], atMs: number, durationMs: number): RunSpan => ({ what, atMs, durationMs });
const part = (atMs: number, durationMs: number, answer: 'kept' | 'computed'): RunSpan => ({
  ...span('part', atMs, durationMs),
  part: { name: 'sketch', answer },
});

const run: RunRecord = runOf({
  durationMs: 100,
  stages: [
    ranStage('one', {
      spans: [
        span('look', 1, 4),
        span('hash', 1, 2),
        span('wait', 5, 1),
        span('slot', 6, 40),
        span('run', 8, 30),
        part(9, 2, 'kept'),
        part(12, 8, 'computed'),
        part(13, 3, 'computed'),
        span('store', 38, 5),
      ],
    }),
    ranStage('two', { spans: [span('look', 1, 5), span('wait', 6, 1), span('slot', 7, 50)] }),
    ranStage('three', { spans: [span('look', 46, 1), span('wait', 47, 10), span('slot', 57, 40), span('run', 110, 5)] }),
  ],
  criticalPath: ['one', 'three'],
});

const complete = (events: readonly TraceEvent[]): readonly CompleteEvent[] => events.flatMap(event => (event.ph === 'X' ? [event] : []));

/** Pairs of events in one row that overlap without one containing the other. */
function crossing(events: readonly CompleteEvent[]): readonly string[] {
  return events.flatMap((a, index) =>
    events.slice(index + 1).flatMap(b => {
      if (a.pid !== b.pid || a.tid !== b.tid) return [];
      const [aEnd, bEnd] = [a.ts + a.dur, b.ts + b.dur];
      const apart = aEnd <= b.ts || bEnd <= a.ts;
      const within = (a.ts >= b.ts && aEnd <= bEnd) || (b.ts >= a.ts && bEnd <= aEnd);
      return apart || within ? [] : [`${a.name} and ${b.name}`];
    }),
  );
}

function isWellFormed(events: readonly TraceEvent[]): void {
  const rows = new Set(events.flatMap(event => (event.ph === 'M' && event.name === 'thread_name' ? [`${event.pid} ${event.tid}`] : [])));
  for (const event of events) {
    expect(Number.isInteger(event.pid) && Number.isInteger(event.tid)).toBe(true);
    if (event.ph === 'M') continue;
    expect(rows).toContain(`${event.pid} ${event.tid}`);
    expect(Number.isInteger(event.ts) && event.ts >= 0).toBe(true);
    if (event.ph === 'X') expect(Number.isInteger(event.dur) && event.dur >= 0).toBe(true);
  }
}

describe('the trace of a run', () => {
  const { traceEvents, displayTimeUnit } = makeTrace(run);
  const events = complete(traceEvents);
  const find = (name: string, cat: string): CompleteEvent | undefined =>
    events.find(event => event.name === name && event.cat.split(',').includes(cat));

  it('has a row per slot, with the pieces of each stage within it', () => {
    expect(displayTimeUnit).toBe('ms');
    isWellFormed(traceEvents);
    expect(crossing(events)).toEqual([]);
    const [one, two, three] = ['one', 'two', 'three'].map(name => find(name, 'slot'));
    expect([one?.tid, two?.tid, three?.tid]).toEqual([1, 2, 1]);
    expect(find('run', 'run')).toMatchObject({ pid: one?.pid, tid: one?.tid, ts: 8000, dur: 30_000, args: { stage: 'one' } });
    expect(find('three', 'wait')).toMatchObject({ ts: 47_000, dur: 10_000 });
    // A span outside every slot, such as the second run of --check, is not shown in a slot.
    expect(events.filter(({ name }) => name === 'run')).toHaveLength(1);
  });

  it('shows parts within their run, and parallel parts in a row of their own', () => {
    const parts = events.filter(({ cat }) => cat.startsWith('part'));
    expect(parts.map(({ cat, args }) => [cat, args])).toEqual([
      ['part,kept', { stage: 'one', answer: 'kept' }],
      ['part,computed', { stage: 'one', answer: 'computed' }],
      ['part,computed', { stage: 'one', answer: 'computed' }],
    ]);
    const runPid = find('run', 'run')?.pid;
    expect(parts.map(({ pid }) => pid === runPid)).toEqual([true, true, false]);
  });

  it('marks the critical path, and draws arrows along it', () => {
    expect(find('one', 'critical-path')?.args).toMatchObject({ criticalPath: true });
    expect(find('two', 'critical-path')).toBeUndefined();
    const arrows = traceEvents.filter(({ ph }) => ph === 's' || ph === 'f');
    expect(arrows).toMatchObject([
      { ph: 's', id: 1, tid: 1, ts: 45_999 },
      { ph: 'f', bp: 'e', id: 1, tid: 1, ts: 57_000 },
    ]);
  });

  it('is well formed for any run', () => {
    const tenths = fc.nat(5000).map(value => value / 10);
    const stage = fc
      .tuple(tenths, tenths, tenths, fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { maxLength: 6 }))
      .map(([at, wait, long, parts]) => {
        const slot = span('slot', at + wait, long);
        const inside = parts.map(([from, share]) => {
          const start = Math.round((slot.atMs + (long * from) / 100) * 10) / 10;
          const end = Math.round((start + ((slot.atMs + long - start) * share) / 100) * 10) / 10;
          return part(start, Math.round((end - start) * 10) / 10, 'computed');
        });
        return [span('wait', at, wait), slot, { ...slot, what: 'run' as const }, ...inside];
      });
    fc.assert(
      fc.property(fc.array(stage, { maxLength: 8 }), stages => {
        const made = runOf({
          stages: stages.map((spans, index) => ranStage(`s${index}`, { spans })),
          criticalPath: stages.map((_, index) => `s${index}`),
        });
        const trace = makeTrace(JSON.parse(JSON.stringify(made))).traceEvents;
        isWellFormed(trace);
        expect(crossing(complete(trace))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('lanes', () => {
  it('are as few as overlap, in the order of the starts', () => {
    expect(
      assignLanes([
        { atMs: 5, durationMs: 5 },
        { atMs: 0, durationMs: 6 },
        { atMs: 6, durationMs: 1 },
        { atMs: 10, durationMs: 1 },
      ]),
    ).toEqual([1, 0, 0, 0]);
  });
});
