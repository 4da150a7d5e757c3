/** Which results the view "Report" shows. */
import type { PipelineView, StageRow } from '../../../src/report/views/pipeline-data.js';
import { orderNames } from '../../../src/report/views/report-data.js';
import { textOf } from '../../support/read-markup.js';
import { loadComponent } from '../../support/render-component.js';

const row = (id: string, plugin: string, outputs: readonly (readonly [string, string])[], more: Partial<StageRow> = {}): StageRow => ({
  id,
  group: id,
  plugin,
  dependsOn: [],
  state: 'up-to-date',
  why: [],
  built: true,
  figures: [],
  gates: [],
  outputs: outputs.map(([port, kind]) => ({ port, kind, path: '', tree: false, digest: 'abcdef0123456789ff' })),
  inputs: [],
  ...more,
});
const pipelineOf = (stages: readonly StageRow[], report?: PipelineView['report']): PipelineView => ({
  version: 1,
  readMs: 0,
  project: { folder: '', pipeline: '', file: 'pipeline.yaml', version: '', access: 'full' },
  problems: [],
  params: {},
  stages,
  groups: {},
  ...(report === undefined ? {} : { report }),
});

describe('entries', () => {
  // In Node, as the report draws them: the router of the page needs a browser otherwise.
  const load = () => import('../../../src/web/page/report/list-entries.js');

  it('are those of the stage that writes a report, under its names', async () => {
    const { listEntries, addressOf } = await load();
    const pipeline = pipelineOf([row('e', 'evaluate', [['metrics', 'metrics']])], {
      stage: 'report',
      title: 'T',
      entries: [
        { port: 'metrics', name: 'int8', stage: 'e', output: 'metrics' },
        { port: 'sweeps', name: 'presets' },
      ],
    });
    const entries = listEntries(pipeline);
    expect(entries.map(({ name }) => name)).toEqual(['int8', 'presets']);
    expect(entries.map(entry => addressOf(entry, pipeline))).toEqual([
      'artifact?stage=e&port=metrics&v=abcdef0123456789',
      'input?stage=report&name=sweeps.presets',
    ]);
  });

  it('without such a stage are all reports and metrics of evaluations, under the names of their stages', async () => {
    const { listEntries, addressOf } = await load();
    const pipeline = pipelineOf([
      row('q', 'quantize', [
        ['model', 'onnx-model'],
        ['report', 'report'],
      ]),
      row('v', 'verify', [
        ['report', 'report'],
        ['metrics', 'metrics'],
      ]),
      row('c', 'evaluate-classes', [['metrics', 'metrics']], { built: false }),
    ]);
    const entries = listEntries(pipeline);
    expect(entries.map(({ port, name }) => [port, name])).toEqual([
      ['quantization', 'q'],
      ['verify', 'v'],
      ['metrics', 'c'],
    ]);
    expect(addressOf(entries[2] as (typeof entries)[number], pipeline)).toBeUndefined();
  });

  it('have the order of the param `order`, others by name', () => {
    expect(orderNames(['b', 'int8', 'a', 'float'], ['float', 'int8'])).toEqual(['float', 'int8', 'a', 'b']);
  });
});

it('the view says which of its results are out of date, and which are not built', async () => {
  const render = await loadComponent('report/report-body.js', 'ReportBody');
  const pipeline = pipelineOf([
    row('old', 'bench', [['report', 'report']], { state: 'stale' }),
    row('none', 'verify', [['report', 'report']], { built: false, state: 'stale' }),
    row('other', 'export', [['model', 'onnx-model']], { state: 'stale' }),
  ]);
  const none = { metrics: [], verify: [], quantization: [], recovery: [], sensitivity: [], compile: [], bench: [], sweeps: [], unread: [] };
  const text = textOf(render({ results: { pipeline, ...none } }));
  expect(text).toMatch(/^out of date old not built none /);
  expect(
    textOf(render({ results: { pipeline: { ...pipeline, project: { ...pipeline.project, access: 'saved' } }, ...none } })),
  ).not.toContain('out of date old');
});

describe('the tile of the gates', () => {
  const gate = { metric: 'bbox.AP', bound: '>= 0.3', value: 0.4, verdict: 'met' } as const;
  const none = { metrics: [], verify: [], quantization: [], recovery: [], sensitivity: [], compile: [], bench: [], sweeps: [], unread: [] };
  const [met, stale] = [row('met', 'evaluate', [], { gates: [gate] }), row('old', 'evaluate', [], { gates: [gate], state: 'stale' })];
  const missing = row('gone', '', [], { built: false, state: 'impossible' });

  it.each([
    ['every bound of the pipeline holds', 'full', [met, row('other', 'export', [], { state: 'stale' })]],
    ['by results that are out of date', 'full', [met, stale]],
    ['of the stages that are built', 'saved', [met, missing]],
  ] as const)('says "%s"', async (note, access, stages) => {
    const render = await loadComponent('report/tiles.js', 'Tiles');
    const pipeline = pipelineOf(stages);
    const text = textOf(render({ results: { ...none, pipeline: { ...pipeline, project: { ...pipeline.project, access } } } }));
    expect(text).toContain(`met ${note}`);
  });

  it('counts for the notice of what is out of date', async () => {
    const render = await loadComponent('report/report-body.js', 'ReportBody');
    // Its figures are not in the report.
    const pipeline = pipelineOf([stale], { stage: 'report', title: 'T', entries: [] });
    expect(textOf(render({ results: { ...none, pipeline } }))).toMatch(/^out of date old /);
  });
});
