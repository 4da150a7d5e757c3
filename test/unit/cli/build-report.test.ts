/** The report at the end of a build, its exit code, and its JSON form. */
import { encodeBuildReport, exitCodeOf, printBuildReport, type ReportForm } from '../../../src/cli/render/build-report.js';
import { formatFailure } from '../../../src/cli/render/format-failure.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { BuildReport } from '../../../src/engine/model/report.js';
import { failureOf, planWith, reportOf, spanAt } from '../../support/report-of.js';
import { makeTextConsole } from '../../support/text-console.js';

const plan = planWith({ make: { uses: 'make' }, judge: { uses: 'judge' }, other: { uses: 'judge' } });
const gate = { metric: 'bbox.AP', operator: '>=', bound: 0.5, span: spanAt(7) } as const;
const failed = { outcome: { kind: 'failed', failure: failureOf({}) } } as const;

function printed(report: BuildReport, form: Partial<ReportForm> = {}): readonly string[] {
  const console = makeTextConsole();
  printBuildReport(plan, report, console, { of: 'all', metrics: 'full', ...form });
  return console.screen();
}

describe('the report of a build', () => {
  it('reports that every stage is up to date', () => {
    const report = reportOf({ make: {}, judge: { metrics: { x: 1 } } });
    expect(printed(report, { metrics: 'summary' })).toEqual(['nothing to do: 2 stages up to date (1.2 s)']);
    const gates = [{ stage: 'judge' as StageId, gate, value: 0.75, verdict: 'met' }] as const;
    expect(printed({ ...report, gates }, { metrics: 'summary' })).toEqual([
      '✓ gate judge: bbox.AP >= 0.5: 0.7500',
      'nothing to do: 2 stages up to date (1.2 s)',
    ]);
  });

  it('has one table per plugin, with one column per stage', () => {
    const report = reportOf({ make: {}, judge: { metrics: { x: 1 } }, other: { metrics: { x: 2 }, previousMetrics: { x: 3 } } });
    expect(printed(report).slice(0, 3)).toEqual(['', '   judge  other', 'x  1      2 was 3']);
  });

  it('can leave out tables without changes', () => {
    const quiet = reportOf({ judge: { metrics: { x: 1 } } });
    const news = reportOf({ judge: { metrics: { x: 1 }, outcome: { kind: 'executed', durationMs: 1 } } });
    expect(printed(quiet, { of: 'changed' }).join('\n')).not.toContain('judge');
    expect(printed(news, { of: 'changed' })).toContain('x  1');
  });

  it('prints the metric, bound, value and location of a gate', () => {
    const gates = [
      { stage: 'judge' as StageId, gate, value: 0.75, verdict: 'met' },
      { stage: 'judge' as StageId, gate, value: 0.25, verdict: 'missed' },
      { stage: 'judge' as StageId, gate, value: undefined, verdict: 'missed' },
    ] as const;
    const lines = printed(reportOf({ judge: {} }, { gates, conclusion: 'gate-missed' }));
    expect(lines.slice(1, 4)).toEqual([
      '✓ gate judge: bbox.AP >= 0.5: 0.7500',
      '✗ gate judge: bbox.AP >= 0.5: 0.2500 missed (pipeline.yaml:7:3)',
      '✗ gate judge: bbox.AP >= 0.5: no such metric, missed (pipeline.yaml:7:3)',
    ]);
    expect(lines).toContain('artifacts are in artifacts/<stage>/');
    expect(lines.at(-1)).toBe('built, but a gate was missed: 1 up to date (1.2 s)');
  });

  it('prints the reasons of a missed gate below it, and has them in the JSON form', () => {
    const reasons = ['Conv "a": too large', 'Resize "b": not documented'];
    const gates = [{ stage: 'judge' as StageId, gate, value: 0.25, verdict: 'missed', reasons }] as const;
    const report = reportOf({ judge: {} }, { gates, conclusion: 'gate-missed' });
    expect(printed(report).slice(1, 4)).toEqual([
      '✗ gate judge: bbox.AP >= 0.5: 0.2500 missed (pipeline.yaml:7:3)',
      '    Conv "a": too large',
      '    Resize "b": not documented',
    ]);
    expect(encodeBuildReport(report)).toMatchObject({ gates: [{ metric: 'bbox.AP', verdict: 'missed', reasons }] });
  });

  it('repeats warnings that have scrolled off the screen, with the place of their next steps', () => {
    const warnings = ['warning[stage-warning]: make: defaults are taken'];
    expect(printed(reportOf({ make: { outcome: { kind: 'executed', durationMs: 1 } } }), { warnings }).slice(0, 3)).toEqual([
      '',
      ...warnings,
      '  help: docs/errors.md has the next step of each code',
    ]);
  });

  it('counts stages by outcome', () => {
    const report = reportOf(
      {
        make: failed,
        judge: { outcome: { kind: 'skipped', because: 'make' as StageId } },
        other: { outcome: { kind: 'executed', durationMs: 1 } },
      },
      { conclusion: 'failed' },
    );
    const lines = printed(report);
    expect(lines).toContain('error[some-code]: make: it broke');
    expect(lines.at(-1)).toBe('failed: 1 executed, 1 failed, 1 skipped (1.2 s)');
    expect(lines.join('\n')).not.toContain('artifacts are in');
  });

  it('names the artifact folder of a pipeline other than the default', () => {
    const console = makeTextConsole();
    printBuildReport({ ...plan, pipeline: 'x' }, reportOf({ make: {} }), console, { of: 'all', metrics: 'full' });
    expect(console.screen()).toContain('artifacts are in artifacts/x/<stage>/');
  });
});

describe('a failure', () => {
  it('prints the code, all lines of the message, the causes, the help, the stack of a crash and the log', () => {
    const failure = failureOf({
      code: 'stage-crashed',
      message: 'exit code 1:\nTraceback\n',
      causes: ['the disk', 'the cable'],
      help: 'plug it in',
      stack: 'Error: exit code 1:\nTraceback\n    at run (plugin.js:1:2)',
      logPath: 'cache/logs/pipeline/make.log',
    });
    expect(formatFailure('make' as StageId, failure, makeTextConsole())).toEqual([
      'error[stage-crashed]: make: exit code 1:',
      '  Traceback',
      '  caused by: the disk',
      '  caused by: the cable',
      '  help: plug it in',
      '  at run (plugin.js:1:2)',
      '  log: cache/logs/pipeline/make.log (tanren log make)',
    ]);
  });

  it('colors only the first line', () => {
    const lines = formatFailure('a' as StageId, failureOf({ message: 'one\ntwo' }), makeTextConsole({ color: true }));
    expect(lines).toEqual(['<red>error[some-code]: a: one</>', '  two']);
  });
});

describe('the exit code', () => {
  const internal = { outcome: { kind: 'failed', failure: failureOf({ code: 'internal' }) } } as const;
  it.each([
    [0, reportOf({ make: {} })],
    [1, reportOf({ make: {} }, { conclusion: 'gate-missed' })],
    [1, reportOf({ make: failed }, { conclusion: 'failed' })],
    [70, reportOf({ make: failed, judge: internal }, { conclusion: 'failed' })],
    [130, reportOf({ make: {} }, { conclusion: 'cancelled' })],
  ])('is %i', (code, report) => expect(exitCodeOf(report)).toBe(code));
});

describe('the report as JSON', () => {
  it('contains every stage with its outcome, and gates without file locations', () => {
    const gates = [{ stage: 'judge' as StageId, gate, value: 0.75, verdict: 'met' }] as const;
    const report = reportOf({ make: {}, judge: { metrics: { x: 1 }, artifacts: { metrics: 'artifacts/judge/metrics.json' } } }, { gates });
    expect(JSON.parse(JSON.stringify(encodeBuildReport(report)))).toEqual({
      conclusion: 'built',
      durationMs: 1234,
      stages: [
        { stage: 'make', outcome: { kind: 'up-to-date' }, artifacts: {} },
        { stage: 'judge', outcome: { kind: 'up-to-date' }, metrics: { x: 1 }, artifacts: { metrics: 'artifacts/judge/metrics.json' } },
      ],
      gates: [{ stage: 'judge', metric: 'bbox.AP', operator: '>=', bound: 0.5, value: 0.75, verdict: 'met' }],
      checks: [],
    });
  });
});
