/** Metrics of another stage that a stage compares its own with. */
import { formatJsonProblems, type JsonReader, readJsonShape } from '../base/json/json-shape.js';
import type { Json } from '../base/json.js';
import { StageError } from './stage-error.js';

/** @param plugin  the plugin that writes such metrics. @throws StageError `baseline-metrics` with the first 100 problems as details. */
export function readBaseline<Metrics>(reader: JsonReader<Metrics>, metrics: Json, plugin: string): Metrics {
  const read = readJsonShape(reader, metrics);
  if (read.kind === 'ok') return read.value;
  const problems = formatJsonProblems(read.problems);
  throw new StageError('baseline-metrics', `the baseline is not the metrics of an \`${plugin}\`: ${problems.slice(0, 8).join('; ')}`, {
    details: problems.slice(0, 100),
    help: `connect the output \`metrics\` of another \`${plugin}\``,
  });
}
