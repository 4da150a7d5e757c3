/** Measured times per image of parts, from reports of `bench`: of a device, and of a CPU. */
import { formatJsonProblems, readJsonShape } from '../../src/base/json/json-shape.js';
import { type BenchReport, type Form, readBenchReport } from '../../src/runtime/measure/bench-report.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getInputRecord } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { Device } from '../../src/target/report/compile-report.js';

/** Milliseconds per image of a model in a form, on a device; `calls`: how often the model runs per image. Undefined where it was not measured. */
export type FindTime = (device: Device, model: string, form: Form, calls: number) => number | undefined;

/** @throws StageError `compile-input` for other entries than `npu` and `cpu`, and for files that are no report of `bench`. */
export async function readMeasuredTimes(inputs: InputPaths): Promise<FindTime> {
  const benches = new Map<string, BenchReport>();
  for (const [name, path] of inputs.measured === undefined ? [] : Object.entries(getInputRecord(inputs, 'measured'))) {
    if (name !== 'npu' && name !== 'cpu') throw wrongInput(`\`measured\` has the entry "${name}"; expected \`npu\` and \`cpu\``);
    const read = readJsonShape(readBenchReport, await readJsonFile(path));
    if (read.kind === 'problems')
      throw wrongInput(`\`measured.${name}\` is no report of bench: ${formatJsonProblems(read.problems).join('; ')}`);
    benches.set(name, read.value);
  }
  return (device, model, form, calls) => findTime(benches.get(device), model, form, calls);
}

function findTime(bench: BenchReport | undefined, model: string, form: Form, calls: number): number | undefined {
  const found = bench?.parts.find(({ part }) => part === model)?.forms.find(one => one.form === form);
  const row = found?.rows[found.best];
  if (row === undefined || bench?.where.runner !== 'bundle') return row?.perImageMs;
  // `runner.py check` times one call of each model, and all calls of those that the detector ran on images.
  const [call] = row.counts;
  return bench.detector?.models?.[model]?.p50Ms ?? (call === undefined ? undefined : call.here.p50Ms * calls);
}

function wrongInput(message: string): StageError {
  return new StageError('compile-input', message, {
    help: 'connect the outputs `report` of two stages `bench`: {npu: bench-board.report, cpu: bench.report}',
  });
}
