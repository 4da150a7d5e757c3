/** Compares every output of two models without a detector, on captured tensors or on their own data. */

import { compareValues, type ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import { openDataSource, openModelSamples, preparesImages } from '../../src/detection/data/data-source.js';
import { type PreparingModel, withPreparingModel } from '../../src/detection/data/preparing-model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import type { ModelSample } from '../../src/runtime/feeds/model-sample.js';
import { type OpenModel, openSession } from '../../src/runtime/session/session.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, findInputRecord, getInputPath, readInput } from '../../src/stage/paths.js';
import { readFixedBatch, runOnFeeds, takeCaptured, toFloats } from './captured-runs.js';
import type { VerifyJob } from './params.js';
import type { PartComparer } from './part-errors.js';
import { summarize } from './report.js';
import { withOpened } from './sides.js';
import type { Summary } from './summary.js';

/** The part's name if none is given, in captured tensors and in the report. */
const PLAIN_PART = 'model';

/** The comparison, and the ids of its samples. */
interface ComparedModels {
  readonly summary: Summary;
  readonly samples: readonly string[];
}

/** @throws DetectionError `data-source`, `part-values`; RuntimeError of samples and runs. */
export async function compareModels(job: VerifyJob, openCandidate: OpenModel, errors: PartComparer): Promise<ComparedModels> {
  return withPreparingModel(findInputPath(job.inputs, 'prepare'), async prepare =>
    compareSamples(job, await openSamples(job, prepare), openCandidate, errors),
  );
}

async function compareSamples(
  { params, inputs, context }: VerifyJob,
  samples: readonly ModelSample[],
  openCandidate: OpenModel,
  errors: PartComparer,
): Promise<ComparedModels> {
  const values: ValueComparisons[] = [];
  const differing = new Map<string, string>();
  const session = { optimization: params.optimization };
  const paths = { reference: getInputPath(inputs, 'reference'), candidate: getInputPath(inputs, 'candidate') };
  const [batch, candidateBatch] = [await readFixedBatch(paths.reference), await readFixedBatch(paths.candidate)];
  const sides = [openSession(paths.reference, session), openCandidate(paths.candidate, session)] as const;
  await withOpened(sides, async ([reference, candidate]) => {
    const shapes = { mayDiffer: await errors.openSelections(params.part ?? PLAIN_PART, { toFloats, splitKinds: () => ({}) }), differing };
    for (const [index, sample] of samples.entries()) {
      context.signal.throwIfAborted();
      const label = `sample ${sample.id}`;
      const feeds = await nameSample(label, async () => {
        const read = await sample.read();
        const [left, right] = [await runOnFeeds(reference, read, batch), await runOnFeeds(candidate, read, candidateBatch)];
        values.push(compareValues(toFloats(left), toFloats(right), shapes));
        return read;
      });
      await errors.addFeeds(params.part ?? PLAIN_PART, feeds, label);
      context.progress(index + 1, samples.length, 'samples');
    }
  });
  return { summary: summarize(values, undefined, differing), samples: samples.map(({ id }) => id) };
}

async function openSamples({ params, inputs, context }: VerifyJob, prepare: PreparingModel | undefined): Promise<readonly ModelSample[]> {
  if (inputs.captured !== undefined) {
    if (prepare !== undefined) throw preparesImages('captured tensors');
    const captured = await openCaptured(getInputPath(inputs, 'captured'));
    return takeCaptured(captured, params.part ?? PLAIN_PART, params.samples).map(sample => ({
      id: sample.id,
      source: sample.source,
      read: () => captured.read(sample, params.part ?? PLAIN_PART, 'input'),
    }));
  }
  const paths = {
    data: findInputRecord(inputs, 'data'),
    images: findInputPath(inputs, 'images'),
    tensors: findInputPath(inputs, 'tensors'),
  };
  const model = await readInput(inputs, 'reference', readModel);
  const source = await openDataSource(paths, params.samples);
  return openModelSamples(source, {
    model,
    preprocess: params.preprocess,
    samples: params.samples,
    prepare,
    log: (level, text) => context.log(level, text),
  });
}
