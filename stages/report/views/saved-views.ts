/** The answers that the views of the page ask for: what the live page asks its server. */
import type { Json, JsonObject } from '../../../src/base/json.js';
import { parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { parseQuantizationReport } from '../../../src/quant/report/report-entries.js';
import { keyOf } from '../../../src/report/saved/answer-key.js';
import type { SavedAnswer, SavedAnswers } from '../../../src/report/saved/saved-answers.js';
import type { PipelineView } from '../../../src/report/views/pipeline-data.js';
import type { LoadedEntry, ReportView } from '../../../src/report/views/report-data.js';
import type { BuildSummary } from '../../../src/stage/build-summary.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { findRead, listEntries } from '../connected.js';
import { reduceSketches } from './reduce-sketches.js';
import { describeStage, describeStages } from './stage-rows.js';

export interface ViewsData {
  readonly build: BuildSummary;
  readonly inputs: InputPaths;
  readonly report: ReportView;
  /** The reports, as they are. */
  readonly entries: readonly LoadedEntry[];
  /** Histograms of each quantized model. */
  readonly histograms: number;
  /** Of models and detections. */
  readonly others: SavedAnswers;
}

export interface SavedViews {
  readonly pipeline: PipelineView;
  readonly answers: SavedAnswers;
}

/** The entries were checked before. @throws QuantError `bad-sketches`. */
export async function saveViews(data: ViewsData): Promise<SavedViews> {
  const { build, report, entries, others } = data;
  const answers: Record<string, SavedAnswer> = { ...others };
  const put = (key: string, value: Json): void => {
    answers[key] = { kind: 'json', value };
  };
  const figures = new Map(entries.flatMap(figuresOf));
  for (const stage of build.stages) put(keyOf('stage', { id: stage.stage }), describeStage(stage, figures.get(stage.stage)));
  for (const { entry, value } of entries) put(keyOfEntry(entry, report), value);
  await saveSketches(data, put);
  const holds = (stage: string, port: string): boolean =>
    ['artifact', 'model'].some(name => Object.hasOwn(answers, keyOf(name, { stage, port })));
  const pipeline = describeStages(build, report, figures, holds);
  put('pipeline', pipeline);
  return { pipeline, answers };
}

function figuresOf({ entry: { port, stage }, value }: LoadedEntry): readonly (readonly [string, JsonObject])[] {
  return port === 'metrics' && stage !== undefined ? [[stage, value as JsonObject]] : [];
}

function keyOfEntry({ port, name, stage, output = '' }: LoadedEntry['entry'], report: ReportView): string {
  return stage === undefined
    ? keyOf('input', { stage: report.stage, name: `${port}.${name}` })
    : keyOf('artifact', { stage, port: output });
}

async function saveSketches({ build, inputs, entries, histograms }: ViewsData, put: (key: string, value: Json) => void): Promise<void> {
  const read = findRead(build.reads);
  for (const [name, path] of listEntries(inputs, 'sketches')) {
    const file = parseModelSketches(await readJsonFile(path));
    for (const user of read('sketches', name).flatMap(from => findUsers(build, from))) {
      const report = entries.find(({ entry }) => entry.port === 'quantization' && entry.stage === user)?.value;
      put(
        keyOf('input', { stage: user, name: 'sketches' }),
        reduceSketches(file, report === undefined ? undefined : findLossy(report, histograms)),
      );
    }
  }
}

/** Names of the values with the least SQNR; unknown ones come after those that lose nothing. */
function findLossy(report: Json, most: number): ReadonlySet<string> {
  const rank = (db: number | null | undefined): number => (db === undefined ? 2e9 : (db ?? 1e9));
  const { activations } = parseQuantizationReport(report, () => undefined);
  const sorted = [...activations].sort((a, b) => rank(a.sqnrDb) - rank(b.sqnrDb));
  return new Set(sorted.slice(0, most).map(({ name }) => name));
}

/** The `quantize` stages that read these sketches. */
function findUsers({ stages }: BuildSummary, { stage, output }: { readonly stage: string; readonly output: string }): readonly string[] {
  return stages
    .filter(({ reads }) =>
      reads.some(one => one.kind === 'artifact' && one.port === 'sketches' && one.stage === stage && one.output === output),
    )
    .map(one => one.stage);
}
