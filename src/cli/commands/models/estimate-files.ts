/** The files of `tanren estimate`: reports of `compile` and of runs on a device, known by their format. */
import { formatJsonProblems, type JsonReader, readJsonShape } from '../../../base/json/json-shape.js';
import { isJsonObject, type Json, parseJson } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { BENCH_FORMAT, type BenchReport, readBenchReport } from '../../../runtime/measure/bench-report.js';
import { decodeText } from '../../../target/board/read-evidence.js';
import { COMPILE_REPORT_FORMAT, COMPILE_REPORT_SCHEMA, type CompileReport } from '../../../target/report/compile-report.js';
import { TargetError } from '../../../target/report/target-error.js';
import { readBounded } from './board-files.js';

export type EstimateFile =
  | { readonly kind: 'compile'; readonly path: string; readonly report: CompileReport }
  | { readonly kind: 'bench'; readonly path: string; readonly report: BenchReport; readonly bytes: Uint8Array };

const readCompileReport = readerOf(COMPILE_REPORT_SCHEMA);

/** @throws TargetError `estimate-file`; of reading. */
export async function readEstimateFile(path: string): Promise<EstimateFile> {
  const bytes = await readBounded(path);
  const json = parseJson(decodeText(bytes));
  const format = isJsonObject(json) ? json.format : undefined;
  if (json !== undefined && format === COMPILE_REPORT_FORMAT)
    return { kind: 'compile', path, report: readAs(path, readCompileReport, json) };
  if (json !== undefined && format === BENCH_FORMAT) return { kind: 'bench', path, report: readAs(path, readBenchReport, json), bytes };
  throw new TargetError('estimate-file', `${path} is neither a report of compile nor one of bench`, {
    help: 'name artifacts/<compile stage>/report.json, and the report of a stage `bench` with a device or of `runner.py check --json`',
  });
}

function readAs<T>(path: string, reader: JsonReader<T>, json: Json): T {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  throw new TargetError('estimate-file', `${path} is malformed: ${formatJsonProblems(read.problems).join('; ')}`, {
    help: 'build the stage again, or copy the file from the board again',
  });
}
