/** Runs `correct-biases`: one kept part per layer, then the outputs before and after. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { pairLayersWithBias } from '../../src/quant/recovery/correct-biases.js';
import { writeBias } from '../../src/quant/recovery/layer-bias.js';
import { type LayerCorrection, parseCorrections } from '../../src/quant/recovery/layer-correction.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import type { OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { openSampleFiles, type SampleFiles } from '../../src/runtime/capture/sample-files.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { CORRECTION_FILE, type LayerManifest, layerPart } from './layer-part.js';
import { OUTPUTS_FILE, outputsPart } from './outputs-part.js';
import type { CorrectBiasesParams } from './params.js';
import { reportCorrections, summarizeCorrections } from './report.js';

type Job = StageJob<CorrectBiasesParams>;

/** @throws QuantError `nothing-to-correct`, `layers-differ`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runCorrectBiases(job: Job): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const float = await readInput(inputs, 'float', readModel);
  const quantized = await readInput(inputs, 'model', readModel);
  const pairs = pairLayersWithBias(float, quantized);
  if (pairs.layers.length === 0) throw nothingToCorrect(pairs);
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), quantized, params, nameSample);
  await mkdir(join(context.scratch, 'values'));
  await writeJsonFile(join(context.scratch, 'samples.json'), samples.list);
  const manifest: LayerManifest['run'] = {
    float: digestModelContent(float),
    quantized: digestModelContent(quantized),
    layers: digestJson(pairs.layers.map(({ name }) => name)),
    samples: samples.digest,
    arrays: samples.list.arrays,
    session: sessionManifest(CAPTURE_SESSION),
  };
  const before = await measureOutputs(job, samples, manifest, { model: quantized, path: getInputPath(inputs, 'model') });
  const corrections = await correctLayers(job, pairs, manifest);
  for (const [index, { result, elements }] of corrections.entries()) {
    if (result === 'corrected') writeBias(quantized.graph, getDefined(pairs.layers[index], 'layer').target, elements);
  }
  const path = getOutputPath(outputs, 'model');
  await writeModel(path, quantized);
  const after = await measureOutputs(job, samples, manifest, { model: quantized, path });
  const report = { corrections, skipped: pairs.skipped, samples: samples.list.files.length, outputs: { before, after } };
  for (const [level, line] of summarizeCorrections(report)) context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportCorrections(report));
}

async function correctLayers(
  { inputs, context }: Job,
  { layers }: LayerPairs<unknown>,
  run: LayerManifest['run'],
): Promise<readonly LayerCorrection[]> {
  const corrections: LayerCorrection[] = [];
  const earlier = join(context.scratch, 'earlier.json');
  const unkeyed = {
    float: getInputPath(inputs, 'float'),
    model: getInputPath(inputs, 'model'),
    samples: join(context.scratch, 'samples.json'),
    scratch: join(context.scratch, 'values'),
    earlier,
  };
  for (const layer of layers.keys()) {
    context.progress(layer, layers.length, 'layers');
    context.signal.throwIfAborted();
    await writeJsonFile(earlier, corrections);
    const { files } = await context.memo(layerPart, { manifest: { run, layer, earlier: digestJson(corrections) }, blobs: {}, unkeyed });
    corrections.push(...parseCorrections(await readJsonFile(getDefined(files[CORRECTION_FILE], CORRECTION_FILE))));
  }
  context.progress(layers.length, layers.length, 'layers');
  return corrections;
}

async function measureOutputs(
  { inputs, context }: Job,
  { list, digest }: SampleFiles,
  { float, session }: LayerManifest['run'],
  { model, path }: { readonly model: Model; readonly path: string },
): Promise<OutputSqnr> {
  const { files } = await context.memo(outputsPart, {
    manifest: {
      float,
      quantized: digestModelContent(model),
      outputs: model.graph.outputs.map(id => getValue(model.graph, id).name),
      samples: digest,
      arrays: list.arrays,
      session,
    },
    blobs: {},
    unkeyed: {
      float: getInputPath(inputs, 'float'),
      model: path,
      samples: join(context.scratch, 'samples.json'),
      scratch: context.scratch,
    },
  });
  return (await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE))) as OutputSqnr;
}

function nothingToCorrect({ skipped }: LayerPairs<unknown>): QuantError {
  const details = skipped.map(({ node, opType, reason }) => `${opType} "${node}": ${reason}`);
  return new QuantError(
    'nothing-to-correct',
    `the model has no layer whose bias can be corrected${details.length === 0 ? '' : `: ${details[0]}`}`,
    {
      details,
      help: 'connect the output of `quantize` to `model`, and the float model that it quantized to `float`',
    },
  );
}
