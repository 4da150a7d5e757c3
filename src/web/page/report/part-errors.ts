/** Which errors of inner values belong to which quantized model, and which to none. */
import type { PartErrors } from '../../../quant/compare/propagated-error.js';
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import { findPart, listReaders, partNameIn } from '../quantization/find-part.js';
import type { Named, ReportResults, VerifyReport } from './report-results.js';

/** As in the view "Quantization": of a stage that reads the quantized model, if the report has one; else by names. */
export function findErrors({ name, stage, value }: Named<QuantizationReport>, { pipeline, verify }: ReportResults): PartErrors | undefined {
  const withErrors = verify.filter(one => (one.value.propagated ?? []).length > 0);
  for (const reader of stage === undefined ? [] : listReaders(pipeline.stages, stage, 'verify')) {
    const own = withErrors.find(one => one.stage === reader.id)?.value.propagated ?? [];
    const part = findPart(value, own, partNameIn(reader, stage ?? ''));
    if (part !== undefined) return part;
  }
  return findPart(
    value,
    withErrors.flatMap(one => one.value.propagated ?? []),
    name,
  );
}

export interface StepErrors {
  readonly step: Named<VerifyReport>;
  readonly parts: readonly PartErrors[];
}

/** Errors of inner values of models whose report of `quantize` is not there, as of models that were quantized elsewhere: step by step. */
export function findOtherErrors(results: ReportResults): readonly StepErrors[] {
  const shown = new Set(results.quantization.map(one => findErrors(one, results)));
  return results.verify.flatMap(step => {
    const parts = (step.value.propagated ?? []).filter(part => !shown.has(part) && part.values.length > 0);
    return parts.length === 0 ? [] : [{ step, parts }];
  });
}
