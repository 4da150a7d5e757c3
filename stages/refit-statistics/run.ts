/** Runs `refit-statistics`: refits layer after layer, and compares the outputs before and after. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { describeOutputs, listOutputs, measureOutputSqnr, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { findRefitLayers, type RefitLayers } from '../../src/quant/refit/refit-layer.js';
import type { RefitReport } from '../../src/quant/refit/refit-report.js';
import { refitStatistics } from '../../src/quant/refit/refit-statistics.js';
import { feedsOf, openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import type { RefitStatisticsParams } from './params.js';

/** @throws QuantError `nothing-to-refit`, `layers-differ`, `not-finite`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runRefitStatistics({ params, inputs, outputs, context }: StageJob<RefitStatisticsParams>): Promise<void> {
  const reference = await readInput(inputs, 'reference', readModel);
  const model: Model = await readInput(inputs, 'model', readModel);
  const found = findRefitLayers(reference, model);
  if (found.layers.length === 0) throw nothingToRefit(found);
  const { list } = await openSampleFiles(getInputPath(inputs, 'captured'), model, params, nameSample);
  const samplesOf = (one: Model) => ({ model: one, samples: feedsOf(one, list) });
  const folder = await makeFolder(context.scratch, 'values');
  const layers = await refitStatistics({
    reference,
    model,
    layers: found.layers,
    samples: { reference: feedsOf(reference, list), model: feedsOf(model, list) },
    folder,
    progress: done => {
      context.signal.throwIfAborted();
      context.progress(done, found.layers.length, 'layers');
    },
  });
  await writeModel(getOutputPath(outputs, 'model'), model);
  const measure = async (name: string, one: Model): Promise<OutputSqnr> =>
    measureOutputSqnr(samplesOf(reference), samplesOf(one), await makeFolder(context.scratch, name));
  const before = await measure('before', await readInput(inputs, 'model', readModel));
  const after = await measure('after', model);
  for (const [level, line] of describeOutputs(before, after, 'refit', 'more samples, or the model without it')) context.log(level, line);
  const report: RefitReport = {
    format: 'tanren-refit-statistics/1',
    samples: list.files.length,
    outputs: listOutputs(before, after),
    layers,
    skipped: found.skipped,
  };
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
}

function nothingToRefit({ skipped }: RefitLayers): QuantError {
  return new QuantError('nothing-to-refit', 'no layer of the model can be refitted', {
    details: skipped.map(layer => ({ ...layer })),
    help: 'connect the output of `rewrite` as `model`, and the model that it rewrote as `reference`; the details have the reason per layer',
  });
}

async function makeFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}
