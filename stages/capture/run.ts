/** Runs `capture`: one kept part per sample runs the models; its files are copied into the output folder, and the index is written last. */

import type { Digest } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { openDataSource, openImageSource, openModelSamples } from '../../src/detection/data/data-source.js';
import { findImageFile } from '../../src/detection/data/image-list.js';
import { type PreparingModel, withPreparingModel } from '../../src/detection/data/preparing-model.js';
import { checkModelNames } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { type CaptureWriter, openCaptureWriter } from '../../src/runtime/capture/capture-writer.js';
import { listModelInputs } from '../../src/runtime/session/model-inputs.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import { makeBoundedFiles } from '../../src/stage/bounded-files.js';
import type { PartResult } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { takeInOrder } from '../../src/stage/in-order.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, findInputRecord, getInputPath, getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import { type DetectorManifest, detectorPart } from './detector-part.js';
import { type ModelManifest, modelPart, PLAIN_PART } from './model-part.js';
import type { CaptureParams } from './params.js';
import { readPartFiles } from './part-files.js';

type CaptureJob = StageJob<CaptureParams>;

/** @throws DetectionError for data sets, images, preprocessing and detectors; RuntimeError for samples, `model-load`, `model-run`. */
export async function runCapture(job: CaptureJob): Promise<void> {
  if (job.params.of === 'detector') await captureDetector(job);
  else await withPreparingModel(findInputPath(job.inputs, 'prepare'), prepare => captureModel(job, prepare));
}

async function captureDetector(job: CaptureJob): Promise<void> {
  const { params, inputs, context } = job;
  const { images, folder } = await openImageSource(dataPaths(job), params.samples);
  const detector = getInputRecord(inputs, 'detector');
  const definition = readDefinition({
    recipe: await readInput(inputs, 'recipe', readJsonFile),
    config: inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile),
    fit: params.fit,
  });
  const wanted = definition.parts;
  checkModelNames(detector, definition);
  const models: Record<string, Digest> = {};
  for (const { name } of wanted) models[name] = digestModelContent(await readModel(getDefined(detector[name], name)));
  const { optimization, rois } = params;
  const manifest: DetectorManifest = {
    definition: definition.files,
    models,
    optimization,
    session: sessionManifest({ optimization }),
    rois: { max: rois.max, keep: rois.keep },
  };
  const parts = wanted.map(
    ({ name, rois }) => ({ name, model: getDefined(models[name], name), firstAxis: rois === 'none' ? 'any' : 'rows' }) as const,
  );
  const samples = images.map(image => ({
    id: String(image.id),
    source: image.fileName,
    label: `image ${image.id} (${image.fileName})`,
    run: async () => context.memo(detectorPart, { manifest, blobs: { image: await findImageFile(folder, image) }, unkeyed: detector }),
  }));
  await write(job, await openCaptureWriter(getOutputPath(job.outputs, 'captured'), parts), samples);
}

async function captureModel(job: CaptureJob, prepare: PreparingModel | undefined): Promise<void> {
  const { params, inputs, context } = job;
  const path = getInputPath(inputs, 'model');
  const model = await readInput(inputs, 'model', readModel);
  const modelInputs = listModelInputs(model);
  const source = await openDataSource(dataPaths(job), params.samples);
  const samples = await openModelSamples(source, {
    model,
    preprocess: params.preprocess,
    samples: params.samples,
    prepare,
    log: (level, text) => context.log(level, text),
  });
  const { optimization } = params;
  const manifest: ModelManifest = {
    model: digestModelContent(model),
    inputs: modelInputs.map(({ name }) => name),
    outputs: model.graph.outputs.map(id => getValue(model.graph, id).name),
    optimization,
    session: sessionManifest({ optimization }),
  };
  const parts = [{ name: PLAIN_PART, model: digestModelContent(model), firstAxis: 'any' }] as const;
  const files = makeBoundedFiles(context.scratch);
  const wanted = samples.map((sample, at) => ({
    id: sample.id,
    source: sample.source,
    label: `sample ${sample.id}`,
    run: async () => {
      const feeds = await files.write(`feeds-${at}.npz`, async file => writeArrays(file, Object.values(await sample.read())));
      try {
        return await context.memo(modelPart, { manifest, blobs: { input: feeds.path }, unkeyed: { model: path } });
      } finally {
        await feeds.remove();
      }
    },
  }));
  await write(job, await openCaptureWriter(getOutputPath(job.outputs, 'captured'), parts), wanted);
}

/** As arrays "0", "1", … */
function writeArrays(path: string, tensors: readonly Tensor[]): Promise<void> {
  return writeNpz(path, new Map(tensors.map((tensor, index) => [`${index}`, tensor])));
}

interface WantedSample {
  readonly id: string;
  readonly source: string;
  /** For messages. */
  readonly label: string;
  readonly run: () => Promise<PartResult>;
}

/** Captures the samples in their order. Logs how many were run, and which parts have samples without rows. */
async function write({ context }: CaptureJob, writer: CaptureWriter, samples: readonly WantedSample[]): Promise<void> {
  let computed = 0;
  const empty = new Map<string, number>();
  const count = samples.length;
  const add = async ({ id, source }: WantedSample, { files, from }: PartResult): Promise<void> => {
    if (from === 'computed') computed++;
    const parts = await readPartFiles(files);
    for (const [part, { rows }] of Object.entries(parts)) if (rows === 0) empty.set(part, (empty.get(part) ?? 0) + 1);
    await writer.add({ id, source }, parts);
  };
  context.progress(0, count, 'samples');
  await takeInOrder(samples, {
    atOnce: context.partsAtOnce,
    begin: async sample => {
      context.signal.throwIfAborted();
      return nameSample(sample.label, sample.run);
    },
    take: async (result, sample, index) => {
      await nameSample(sample.label, () => add(sample, result));
      context.progress(index + 1, count, 'samples');
    },
  });
  await writer.finish();
  context.log('info', `${count} samples: ${computed} run now, ${count - computed} reused`);
  for (const [part, samples] of empty) context.log('warning', `part ${part} has no rows in ${samples} of ${count} samples`);
}

function dataPaths({ inputs }: CaptureJob) {
  return {
    data: findInputRecord(inputs, 'data'),
    images: findInputPath(inputs, 'images'),
    tensors: findInputPath(inputs, 'tensors'),
  };
}
