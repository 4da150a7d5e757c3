/** Runs `refit-statistics`: refits layer after layer, and compares the outputs before and after. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { findRefitLayers, type RefitLayers } from '../../src/quant/refit/refit-layer.js';
import { refitStatistics } from '../../src/quant/refit/refit-statistics.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { measureOutputs, type OutputSqnr } from './output-error.js';
import type { RefitStatisticsParams } from './params.js';
import { openRefitSamples } from './samples.js';

/** @throws QuantError `nothing-to-refit`, `layers-differ`, `not-finite`; the errors of `openRefitSamples`; RuntimeError `model-load`, `model-run`. */
export async function runRefitStatistics({ params, inputs, outputs, context }: StageJob<RefitStatisticsParams>): Promise<void> {
  const reference = await readInput(inputs, 'reference', readModel);
  const model: Model = await readInput(inputs, 'model', readModel);
  const found = findRefitLayers(reference, model);
  if (found.layers.length === 0) throw nothingToRefit(found);
  const samples = await openRefitSamples(getInputPath(inputs, 'captured'), model, params);
  const folder = join(context.scratch, 'values');
  await mkdir(folder);
  const layers = await refitStatistics({
    reference,
    model,
    layers: found.layers,
    samples: { reference: samples.feedsOf(reference), model: samples.feedsOf(model) },
    folder,
    progress: done => {
      context.signal.throwIfAborted();
      context.progress(done, found.layers.length, 'layers');
    },
  });
  await writeModel(getOutputPath(outputs, 'model'), model);
  const before = await readInput(inputs, 'model', readModel);
  const sqnrDb = await measureOutputs(reference, { before, after: model }, samples);
  for (const [level, line] of describeOutputs(sqnrDb)) context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), {
    format: 'tanren-refit-statistics/1',
    samples: samples.count,
    outputs: Object.entries(sqnrDb.before).map(([name, db]) => ({ name, sqnrDb: { before: db, after: sqnrDb.after[name] ?? null } })),
    layers: layers.map(({ factors, ...layer }) => ({ ...layer, meanShift: { ...layer.meanShift }, factors: [...factors] })),
    skipped: found.skipped.map(layer => ({ ...layer })),
  });
}

/** One line per output; a warning where the refit made it worse. */
function describeOutputs({ before, after }: { readonly before: OutputSqnr; readonly after: OutputSqnr }) {
  return Object.entries(before).map(([name, db]) => {
    const now = after[name] ?? null;
    const isWorse = (now ?? Number.POSITIVE_INFINITY) < (db ?? Number.POSITIVE_INFINITY);
    const line = `output "${name}": SQNR ${formatDb(db)} before, ${formatDb(now)} after`;
    return [isWorse ? 'warning' : 'info', isWorse ? `${line}: use more samples, or the model without refit` : line] as const;
  });
}

const formatDb = (db: number | null): string => (db === null ? 'without error' : `${db.toFixed(1)} dB`);

function nothingToRefit({ skipped }: RefitLayers): QuantError {
  return new QuantError('nothing-to-refit', 'no layer of the model can be refitted', {
    details: skipped.map(layer => ({ ...layer })),
    help: 'connect the output of `rewrite` as `model`, and the model that it rewrote as `reference`; the details have the reason per layer',
  });
}
