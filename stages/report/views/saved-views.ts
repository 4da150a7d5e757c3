/** The answers that the interactive views of the page ask for: what the live page asks its server. */
import type { Json } from '../../../src/base/json.js';
import { keyOf } from '../../../src/report/saved/answer-key.js';
import type { SavedAnswer, SavedAnswers } from '../../../src/report/saved/saved-answers.js';
import type { BuildSummary } from '../../../src/stage/build-summary.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { findRead, listEntries } from '../connected.js';
import type { ReportParams } from '../params.js';
import type { Metrics } from '../sections/accuracy-section.js';
import { reduceSketches } from './reduce-sketches.js';
import { describeStage, describeStages } from './stage-rows.js';

export interface ViewsData {
  readonly build: BuildSummary;
  readonly inputs: InputPaths;
  readonly params: ReportParams;
  readonly metrics: readonly Metrics[];
  /** Of models and detections. */
  readonly others: SavedAnswers;
}

/** Ports whose artifacts the views read as they are. */
const AS_THEY_ARE = ['metrics', 'verify', 'quantization', 'sensitivity', 'compile', 'bench'];

/** The reports were parsed before. */
export async function saveViews({ build, inputs, params, metrics, others }: ViewsData): Promise<SavedAnswers> {
  const answers: Record<string, SavedAnswer> = { ...others };
  const read = findRead(build.reads);
  const put = (key: string, value: Json): void => {
    answers[key] = { kind: 'json', value };
  };
  const figures = new Map(metrics.flatMap(({ name, value }) => read('metrics', name).map(({ stage }) => [stage, value] as const)));
  for (const stage of build.stages) put(keyOf('stage', { id: stage.stage }), describeStage(stage, figures.get(stage.stage)));
  for (const port of AS_THEY_ARE) {
    for (const [name, path] of listEntries(inputs, port))
      for (const { stage, output } of read(port, name))
        answers[keyOf('artifact', { stage, port: output })] = { kind: 'json', value: await readJsonFile(path) };
  }
  for (const [name, path] of listEntries(inputs, 'sketches')) {
    const users = read('sketches', name).flatMap(from => findUsers(build, from));
    if (users.length === 0) continue;
    const value = reduceSketches(await readJsonFile(path));
    for (const user of users) answers[keyOf('input', { stage: user, name: 'sketches' })] = { kind: 'json', value };
  }
  const holds = (stage: string, port: string): boolean =>
    ['artifact', 'model'].some(name => Object.hasOwn(answers, keyOf(name, { stage, port })));
  put('pipeline', describeStages(build, params.title, figures, holds));
  return answers;
}

/** The `quantize` stages that read these sketches. */
function findUsers({ stages }: BuildSummary, { stage, output }: { readonly stage: string; readonly output: string }): readonly string[] {
  return stages
    .filter(({ reads }) =>
      reads.some(one => one.kind === 'artifact' && one.port === 'sketches' && one.stage === stage && one.output === output),
    )
    .map(one => one.stage);
}
