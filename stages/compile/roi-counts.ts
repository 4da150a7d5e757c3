/** RoIs per image for each model, from the captured data or the params. */
import { findClosest } from '../../src/base/text/did-you-mean.js';
import { rowCounts } from '../../src/runtime/capture/capture-index.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { mean } from '../../src/target/estimate/batch-estimate.js';
import type { BatchEstimate } from '../../src/target/report/compile-report.js';
import type { CompileParams } from './params.js';

type Rois = BatchEstimate['rois'];

/** By model, or by part where the part runs on tiles. */
export type RoisByModel = ReadonlyMap<string, Rois>;

/** A captured part that always has one row is not a head and has no counts. @throws StageError `unknown-model`; RuntimeError `bad-capture`. */
export async function countRois({ params, inputs }: StageJob<CompileParams>, names: readonly string[]): Promise<RoisByModel> {
  const rois = new Map<string, Rois>();
  for (const [name, counts] of Object.entries(params.rois)) {
    if (!names.includes(name)) throw unknownModel(name, names);
    rois.set(name, { from: 'params', counts, mean: mean(counts) });
  }
  if (inputs.captured === undefined) return rois;
  const { index } = await readInput(inputs, 'captured', openCaptured);
  for (const { name } of index.parts) {
    if (!names.includes(name)) continue;
    const counts = rowCounts(index, name).seen;
    if (counts.some(count => count !== 1)) rois.set(name, { from: 'captured', counts, mean: mean(counts) });
  }
  return rois;
}

function unknownModel(name: string, names: readonly string[]): StageError {
  const closest = findClosest(name, names);
  return new StageError('unknown-model', `\`rois\` names "${name}", which is not a model`, {
    help: `choose one of ${names.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}
