/** The results that a report is made of, read: each under its name, and what could not be read. */
import { isCodedError } from '../../../base/coded-error.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { DETECTION_FIGURES_SCHEMA } from '../../../detection/compare/detection-figures.js';
import { verifyReadingOf } from '../../../quant/compare/verify-reading.js';
import { RECOVERY_SCHEMA, type RecoveryReport } from '../../../quant/recovery/recovery-report.js';
import { parseQuantizationReport, type QuantizationReport } from '../../../quant/report/report-entries.js';
import { parseSensitivityReport, type SensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import type { SweepDocument } from '../../../report/sweep-document.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { LoadedEntry, ReportEntryView, ReportPort } from '../../../report/views/report-data.js';
import { type BenchReport, readBenchReport } from '../../../runtime/measure/bench-report.js';
import { ApiError } from '../api/client.js';
import { type CompileReport, parseCompileReport } from '../compile/compile-report.js';
import { parseSweep } from '../sweeps/parse-sweep.js';

/** A result under the name of its entry. */
export interface Named<T> {
  readonly name: string;
  readonly value: T;
  /** The stage that made it; undefined for a source. */
  readonly stage: string | undefined;
}

const VERIFY_READING = verifyReadingOf(DETECTION_FIGURES_SCHEMA);

export type VerifyReport = FromSchema<typeof VERIFY_READING>;

interface ResultTypes {
  readonly metrics: JsonObject;
  readonly verify: VerifyReport;
  readonly quantization: QuantizationReport;
  readonly recovery: RecoveryReport;
  readonly sensitivity: SensitivityReport;
  readonly compile: CompileReport;
  readonly bench: BenchReport;
  readonly sweeps: SweepDocument;
}

export type ReportResults = { readonly [Port in ReportPort]: readonly Named<ResultTypes[Port]>[] } & {
  readonly pipeline: PipelineView;
  /** Entries that cannot be read, and why. */
  readonly unread: readonly { readonly entry: ReportEntryView; readonly reason: string }[];
};

const READERS: { readonly [Port in ReportPort]: (json: Json) => ResultTypes[Port] } = {
  metrics: json => (isJsonObject(json) ? json : refuse('evaluate', 'metrics are an object of numbers')),
  verify: readShape(readerOf(VERIFY_READING), 'verify'),
  quantization: json => parseQuantizationReport(json, () => undefined),
  recovery: readShape(readerOf(RECOVERY_SCHEMA), 'correct-biases or round-weights'),
  sensitivity: parseSensitivityReport,
  compile: parseCompileReport,
  bench: readShape(readBenchReport, 'bench'),
  sweeps: parseSweep,
};

/** @param loaded in the order of the entries. */
export function readResults(pipeline: PipelineView, loaded: readonly LoadedEntry[], failed: ReportResults['unread'] = []): ReportResults {
  const unread = [...failed];
  const of = <Port extends ReportPort>(port: Port): readonly Named<ResultTypes[Port]>[] =>
    loaded.flatMap(({ entry, value }) => {
      if (entry.port !== port) return [];
      try {
        return [{ name: entry.name, stage: entry.stage, value: READERS[port](value) }];
      } catch (error) {
        if (!isCodedError(error) && !(error instanceof ApiError)) throw error;
        unread.push({ entry, reason: error.message });
        return [];
      }
    });
  return {
    pipeline,
    metrics: of('metrics'),
    verify: of('verify'),
    quantization: of('quantization'),
    recovery: of('recovery'),
    sensitivity: of('sensitivity'),
    compile: of('compile'),
    bench: of('bench'),
    sweeps: of('sweeps'),
    unread,
  };
}

function readShape<T>(reader: Parameters<typeof readJsonShape<T>>[0], writer: string): (json: Json) => T {
  return json => {
    const read = readJsonShape(reader, json);
    return read.kind === 'ok' ? read.value : refuse(writer, formatJsonProblems(read.problems).slice(0, 3).join('; '));
  };
}

/** @throws ApiError `report-input`. */
function refuse(writer: string, why: string): never {
  throw new ApiError(0, 'report-input', `invalid report of ${writer}: ${why}`, 'build the stage again');
}
