/** What the entries of each port have to be. */
import { isJsonObject, type Json } from '../../../src/base/json.js';
import { DETECTION_FIGURES_SCHEMA } from '../../../src/detection/compare/detection-figures.js';
import { verifyReadingOf } from '../../../src/quant/compare/verify-reading.js';
import { RECOVERY_SCHEMA } from '../../../src/quant/recovery/recovery-report.js';
import { withPresentNames } from '../../../src/quant/report/former-names.js';
import { QUANTIZATION_SCHEMA } from '../../../src/quant/report/report-entries.js';
import { parseSensitivityReport } from '../../../src/quant/sensitivity/report-schema.js';
import { SWEEP_DOCUMENT } from '../../../src/report/sweep-document.js';
import type { ReportPort } from '../../../src/report/views/report-data.js';
import { BENCH_REPORT_SCHEMA } from '../../../src/runtime/measure/bench-report.js';
import { StageError } from '../../../src/stage/stage-error.js';
import { COMPILE_REPORT_OF_ANY_VERSION } from '../../../src/target/report/compile-report.js';
import { parserOf } from '../entries.js';

const VERIFY_READING = verifyReadingOf(DETECTION_FIGURES_SCHEMA);

const parseQuantization = parserOf(QUANTIZATION_SCHEMA, 'quantize');

/** @throws StageError `report-input`; QuantError `bad-sensitivity-report`. */
export const CHECKS: Readonly<Record<ReportPort, (value: Json) => void>> = {
  metrics: value => {
    if (isJsonObject(value)) return;
    throw new StageError('report-input', 'metrics are an object of numbers', { help: 'connect an output of kind metrics' });
  },
  verify: parserOf(VERIFY_READING, 'verify'),
  // Also with former names of fields, which the page reads too.
  quantization: value => parseQuantization(withPresentNames(value).report),
  recovery: parserOf(RECOVERY_SCHEMA, 'correct-biases` or `round-weights'),
  sensitivity: parseSensitivityReport,
  compile: parserOf(COMPILE_REPORT_OF_ANY_VERSION, 'compile'),
  bench: parserOf(BENCH_REPORT_SCHEMA, 'bench'),
  sweeps: parserOf(SWEEP_DOCUMENT, 'tanren sweep -o sweep.json'),
};
