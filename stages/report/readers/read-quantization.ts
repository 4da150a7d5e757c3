/** Reads reports of `quantize`. */
import type { Json } from '../../../src/base/json.js';
import { withPresentNames } from '../../../src/quant/report/former-names.js';
import { QUANTIZATION_SCHEMA, type QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { parserOf } from '../entries.js';

const parse = parserOf(QUANTIZATION_SCHEMA, 'quantize');

/** Also reads reports with former names of fields. @throws StageError `report-input`. */
export function parseQuantization(value: Json): QuantizationReport {
  return parse(withPresentNames(value).report);
}
