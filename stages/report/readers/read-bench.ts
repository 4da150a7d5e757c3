/** Reads reports of `bench`. */
import { BENCH_REPORT_SCHEMA } from '../../../src/runtime/measure/bench-report.js';
import { parserOf } from '../entries.js';

/** @throws StageError `report-input`. */
export const parseBench = parserOf(BENCH_REPORT_SCHEMA, 'bench');
