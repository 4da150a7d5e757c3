/** Reads the report of `compile`, of any version. Times are estimates. */
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { COMPILE_REPORT_OF_ANY_VERSION } from '../../../target/report/compile-report.js';
import { ApiError } from '../api/client.js';

export type CompileReport = FromSchema<typeof COMPILE_REPORT_OF_ANY_VERSION>;
export type CompiledModel = CompileReport['models'][number];
export type Unit = CompiledModel['units'][number];

const reader = readerOf(COMPILE_REPORT_OF_ANY_VERSION);

/** @throws ApiError `report-input`. */
export function parseCompileReport(json: Json): CompileReport {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  const problems = formatJsonProblems(read.problems);
  throw new ApiError(0, 'report-input', `invalid report of compile: ${problems.slice(0, 5).join('; ')}`, 'build the stage again');
}
