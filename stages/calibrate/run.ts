/** Runs `calibrate`: sketches every sample on its own and merges the sketches. */
import type { JsonObject } from '../../src/base/json.js';
import { type PreparingModel, withPreparingModel } from '../../src/detection/data/preparing-model.js';
import type { Model, NodeId } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { encodeModelSketches, type ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { observe } from '../../src/quant/calibration/observe.js';
import { findUnlikeJoins } from '../../src/quant/placement/unlike-joins.js';
import { describeJoin, warnOfJoin } from '../../src/quant/report/describe-joins.js';
import type { JoinEntry } from '../../src/quant/report/report-entries.js';
import { PRESETS } from '../../src/quant/scheme/scheme.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { takeInOrder } from '../../src/stage/in-order.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { CalibrationSample } from './calibration-sample.js';
import { observeSamples, type SampleObserver } from './observe-samples.js';
import { openSamples } from './open-samples.js';
import type { CalibrateParams } from './params.js';
import { reportCalibration, type SkippedSample, type UsedSample } from './report.js';

/** @throws StageError `no-rois`; the errors of `openSamples`; per sample those of its source, and QuantError `not-finite`. */
export async function runCalibrate(job: StageJob<CalibrateParams>): Promise<void> {
  await withPreparingModel(findInputPath(job.inputs, 'prepare'), prepare => calibrate(job, prepare));
}

async function calibrate(job: StageJob<CalibrateParams>, prepare: PreparingModel | undefined): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const model = await readInput(inputs, 'model', readModel);
  const { part, samples } = await openSamples(job, model, prepare);
  const observer = observeSamples({ model, modelPath: getInputPath(inputs, 'model'), params, context });
  const seen = await observeAll(samples, observer, context);
  if (seen.used.length === 0) throw noSamples(seen.skipped, params);
  const sketches = await observer.finish();
  const joins = findJoins(model, sketches);
  for (const join of joins) context.log('warning', warnOfJoin(join, 8));
  await writeJsonFile(getOutputPath(outputs, 'sketches'), encodeModelSketches(sketches));
  await writeJsonFile(getOutputPath(outputs, 'report'), reportCalibration(part, sketches, { ...seen, joins }));
}

/** What 8 bits at min-max ranges would lose; `quantize` finds it again for its own scheme. */
function findJoins(model: Model, sketches: ModelSketches): readonly JoinEntry[] {
  const request = { observations: observe(model, sketches), integersOf: () => PRESETS.u8s8.activation, excluded: new Set<NodeId>() };
  return findUnlikeJoins(model.graph, request).map(join => describeJoin(model.graph, join, false));
}

interface Seen {
  readonly used: readonly UsedSample[];
  readonly skipped: readonly SkippedSample[];
}

async function observeAll(samples: readonly CalibrationSample[], observer: SampleObserver, context: Context): Promise<Seen> {
  const used: UsedSample[] = [];
  const skipped: SkippedSample[] = [];
  context.progress(0, samples.length, 'samples');
  await takeInOrder(samples, {
    atOnce: context.partsAtOnce,
    begin: sample =>
      nameSample(sample.label, async () => {
        context.signal.throwIfAborted();
        const input = await sample.find();
        if (input.kind === 'left-out') return input;
        try {
          return { ...input, sketched: await observer.sketch(input.file) };
        } finally {
          await input.remove?.();
        }
      }),
    take: async (found, sample, index) => {
      if (found.kind === 'left-out') skipped.push({ sample, reason: found.reason });
      else {
        // A file that stays is not looked for again.
        const again = found.remove === undefined ? { ...sample, find: async () => found } : sample;
        await nameSample(sample.label, () => observer.add(again, found.sketched));
        used.push({ sample, rows: found.rows });
      }
      context.progress(index + 1, samples.length, 'samples');
    },
  });
  for (const { sample, reason } of skipped) context.log('warning', `${sample.label} is skipped: ${reason}`);
  return { used, skipped };
}

function noSamples(skipped: readonly SkippedSample[], { rois }: CalibrateParams): StageError {
  const details: JsonObject[] = skipped.map(({ sample, reason }) => ({ sample: sample.id, reason }));
  return new StageError(
    'no-rois',
    `none of ${skipped.length} samples has ${rois.min} RoI${rois.min === 1 ? '' : 's'}: nothing to calibrate with`,
    {
      details,
      help: 'use other images, lower rois.min, or check that the detector finds objects in them',
    },
  );
}
