/** The display of a running and of an ended build against approved golden files. */

import type { JsonObject } from '../../../src/base/json.js';
import { makeBuildRenderer } from '../../../src/cli/render/build-renderer.js';
import { exitCodeOf, printBuildReport } from '../../../src/cli/render/build-report.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import type { Failure } from '../../../src/engine/model/failure.js';
import type { Outcome } from '../../../src/engine/model/outcome.js';
import type { Plan, StageId } from '../../../src/engine/model/plan.js';
import type { BuildReport, StageReport } from '../../../src/engine/model/report.js';
import { expectGolden } from '../../support/golden.js';
import { planText } from '../../support/pipeline-file.js';
import { makeTextConsole } from '../../support/text-console.js';

const id = (text: string): StageId => text as StageId;
const figures = (ap: number, delta?: number): JsonObject => ({
  bbox: { AP: ap, AP50: ap + 0.2, ARlarge: 0.7 },
  segm: { AP: ap - 0.1 },
  images: 200,
  ...(delta === undefined ? {} : { delta: { bbox: { AP: delta, AP50: 0, ARlarge: 0 }, segm: { AP: -delta } } }),
});

const failure: Failure = {
  code: 'model-load',
  message: 'ONNX Runtime refuses model.onnx',
  help: 'look at the model',
  details: null,
  causes: ['opset 99 is not known'],
  stack: undefined,
  logPath: 'cache/logs/pipeline/float.log',
};

async function planOfThree(): Promise<Plan> {
  const { plan } = await planText(
    `version: 1\nstages:\n  make: {uses: make}\n${['float', 'int8'].map(name => `  ${name}: {uses: judge, inputs: {model: make.model}, gate: {delta.bbox.AP: ">= -0.001"}}\n`).join('')}`,
  );
  if (plan === undefined) throw new Error('the plan has errors');
  return plan;
}

const stage = (name: string, outcome: Outcome, metrics?: JsonObject, previousMetrics?: JsonObject): StageReport => ({
  stage: id(name),
  outcome,
  metrics,
  previousMetrics,
  artifacts: {},
});

function reportOf(conclusion: BuildReport['conclusion'], stages: readonly StageReport[], gates: BuildReport['gates'] = []): BuildReport {
  return { stages: new Map(stages.map(item => [item.stage, item])), gates, checks: [], durationMs: 1234, conclusion };
}

const executed: Outcome = { kind: 'executed', durationMs: 50 };

describe('the report of a build', () => {
  it('prints metrics side by side with their differences, gates, and a summary', async () => {
    const plan = await planOfThree();
    const gate = plan.stages.get(id('int8'))?.gate[0];
    if (gate === undefined) throw new Error('no gate');
    const report = reportOf(
      'gate-missed',
      [
        stage('make', { kind: 'up-to-date' }),
        stage('float', executed, figures(0.6804)),
        stage('int8', executed, figures(0.675812, -0.0046), figures(0.6797)),
      ],
      [
        { stage: id('float'), gate, value: undefined, verdict: 'missed' },
        { stage: id('int8'), gate, value: -0.0046, verdict: 'missed' },
        { stage: id('int8'), gate: { ...gate, metric: 'images', bound: 200 }, value: 200, verdict: 'met' },
      ],
    );
    const console = makeTextConsole({ live: false });
    printBuildReport(plan, report, console, { of: 'all', metrics: 'full' });

    expectGolden('build-report.txt', console.text());
    expect(exitCodeOf(report)).toBe(1);
  });

  it('prints each failure with cause, help and log', async () => {
    const report = reportOf('failed', [
      stage('make', executed),
      stage('float', { kind: 'failed', failure }),
      stage('int8', { kind: 'skipped', because: id('float') }),
    ]);
    const console = makeTextConsole({ live: false });
    printBuildReport(await planOfThree(), report, console, { of: 'all', metrics: 'summary' });

    expectGolden('failed-build.txt', console.text());
    expect(exitCodeOf(report)).toBe(1);
  });
});

const EVENTS: readonly BuildEvent[] = [
  { kind: 'waiting-for-lock', folder: 'cache', holder: undefined },
  { kind: 'stage-started', stage: id('export'), reasons: ['never built'], attempt: 1 },
  { kind: 'progress', stage: id('export'), done: 3, total: 10, what: 'images' },
  { kind: 'warning', stage: id('export'), code: 'stage-warning', message: 'defaults are taken' },
  { kind: 'outcome', stage: id('export'), outcome: { kind: 'executed', durationMs: 1500 } },
  { kind: 'outcome', stage: id('split'), outcome: { kind: 'up-to-date' } },
  { kind: 'outcome', stage: id('simplify'), outcome: { kind: 'restored', sizeBytes: 2048 } },
  { kind: 'stage-started', stage: id('rewrite'), reasons: ['params.form changed', 'inputs.model changed'], attempt: 2 },
  { kind: 'retrying', stage: id('rewrite'), message: 'the worker died', inMs: 1000 },
  { kind: 'outcome', stage: id('rewrite'), outcome: { kind: 'failed', failure } },
  { kind: 'outcome', stage: id('verify'), outcome: { kind: 'skipped', because: id('rewrite') } },
  { kind: 'outcome', stage: id('bench'), outcome: { kind: 'cancelled' } },
];

describe('a running build', () => {
  it('prints one plain line per event without a terminal', () => {
    const console = makeTextConsole({ live: false });
    const renderer = makeBuildRenderer(console, 8);
    for (const event of EVENTS) renderer.emit(event);
    renderer.end();

    expectGolden('running-plain.txt', console.text());
  });

  it('shows one live line per running stage on a terminal, and removes it when the stage ends', () => {
    const console = makeTextConsole({ live: true, width: 40 });
    const renderer = makeBuildRenderer(console, 8);
    for (const event of EVENTS) renderer.emit(event);
    renderer.end();

    const text = console.text().replace(/^( {2}\w+ +)\d+ s/gm, '$1TIME');
    expectGolden('running-live.txt', text.replaceAll('\u001b', '<ESC>'));
    expect(console.screen()).toEqual(EVENTS_AS_LEFT_ON_A_TERMINAL);
  });
});

const EVENTS_AS_LEFT_ON_A_TERMINAL = [
  'waiting for another build that uses cache',
  'warning[stage-warning]: export:',
  '  defaults are taken',
  '✓ export    executed in 1.5 s',
  '↺ simplify  restored 2.0 kB from the cache',
  '↻ rewrite   the worker died; next try in 1.0 s',
  '✗ rewrite   failed: ONNX Runtime refuses model.onnx',
  '– verify    skipped: rewrite failed',
  '– bench     cancelled',
];
