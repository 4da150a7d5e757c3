/** Runs `quantize`: reads model and sketches, and writes the quantized model and its report. */
import { getDefined } from '../../src/base/invariant.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { optionsOf } from '../../src/quant/options-of.js';
import { warnOfMasks, warnOfUnreached } from '../../src/quant/placement/unfit.js';
import { quantizeModel } from '../../src/quant/quantize-model.js';
import { warnOfJoin } from '../../src/quant/report/describe-joins.js';
import { summarizeRefinement } from '../../src/quant/report/describe-refinement.js';
import { PRESET_ORIGINS } from '../../src/quant/scheme/preset-origins.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { parseWidenedTypes } from '../../src/quant/widening/widened-types.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { getShiftBounds } from '../../src/target/profile/shift-bounds.js';
import { digestInput } from './constants-part.js';
import { findIdleOperators } from './idle-operators.js';
import { floatFormatOf, isIntegerPreset, type QuantizeStageParams } from './params.js';
import { runFloats } from './run-floats.js';

/** @throws QuantError and OnnxError as quantizeModel and runFloats; StageError `json-malformed`. */
export async function runQuantize({ params, ...job }: StageJob<QuantizeStageParams>): Promise<void> {
  if (isIntegerPreset(params)) return runIntegers({ params, ...job });
  return runFloats(getDefined(floatFormatOf(params), 'float format of the preset'), job);
}

async function runIntegers({ params, inputs, outputs, context }: StageJob<QuantizeParams>): Promise<void> {
  // Sketches are decoded while the larger file is read.
  const [model, sketches] = await Promise.all([
    readInput(inputs, 'model', readModel),
    readInput(inputs, 'sketches', readJsonFile).then(parseModelSketches),
  ]);
  const widened = inputs.overrides === undefined ? undefined : parseWidenedTypes(await readInput(inputs, 'overrides', readJsonFile));
  const options = optionsOf(params, widened, getShiftBounds());
  for (const warning of findIdleOperators(model.graph, params)) context.log('warning', warning);
  const report = quantizeModel(model, await digestInput(model, getInputPath(inputs, 'model'), context), sketches, options);
  if (report.masks !== undefined) context.log('warning', warnOfMasks(report.masks));
  if (report.unreached !== undefined) context.log('warning', warnOfUnreached(report.unreached));
  const bits = options.scheme.activation.dtype.endsWith('16') ? 16 : 8;
  for (const join of report.joins ?? []) if (!join.separated) context.log('warning', warnOfJoin(join, bits));
  if (report.positions !== undefined) for (const line of summarizeRefinement(report.positions)) context.log(line.level, line.text);
  const { model: of, version } = PRESET_ORIGINS[params.preset];
  context.log('info', `quantized by preset ${params.preset}, modeled on ${of}, version ${version}: ${JSON.stringify(report.counts)}`);
  await writeModel(getOutputPath(outputs, 'model'), model);
  await writeJsonFile(getOutputPath(outputs, 'report'), {
    ...report,
    scheme: { preset: { name: params.preset, model: of, version }, ...report.scheme },
  });
}
