/** Runs `round-weights`: one kept part per layer, then the outputs before and after. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import type { OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { type LayerRounding, parseRounding } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { writeWeight } from '../../src/quant/recovery/rounding/layer-weight.js';
import { pairLayersWithWeight } from '../../src/quant/recovery/rounding/round-weights.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { INTEGERS_FILE, type LayerManifest, layerPart, ROUNDING_FILE, readIntegers } from './layer-part.js';
import { OUTPUTS_FILE, outputsPart } from './outputs-part.js';
import type { RoundWeightsParams } from './params.js';
import { reportRoundings, summarizeRoundings } from './report.js';

type Job = StageJob<RoundWeightsParams>;

/** @throws QuantError `nothing-to-round`, `layers-differ`, `not-finite`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runRoundWeights(job: Job): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const float = await readInput(inputs, 'float', readModel);
  const quantized = await readInput(inputs, 'model', readModel);
  const pairs = pairLayersWithWeight(float, quantized);
  if (pairs.layers.length === 0) throw nothingToRound(pairs);
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), quantized, params, nameSample);
  await mkdir(join(context.scratch, 'values'));
  await writeJsonFile(join(context.scratch, 'samples.json'), samples.list);
  const run: LayerManifest['run'] = {
    float: digestModelContent(float),
    quantized: digestModelContent(quantized),
    layers: digestJson(pairs.layers.map(({ name }) => name)),
    samples: samples.digest,
    arrays: samples.list.arrays,
    session: sessionManifest(CAPTURE_SESSION),
    settings: { method: params.method, damping: params.damping, iterations: params.method === 'adaround' ? params.iterations : 0 },
  };
  const names = quantized.graph.outputs.map(id => getValue(quantized.graph, id).name);
  const before = await measureOutputs(job, run, names, { digest: run.quantized, path: getInputPath(inputs, 'model') });
  const rounded = await roundLayers(job, pairs, run);
  for (const [index, { integers }] of rounded.entries()) {
    writeWeight(quantized.graph, getDefined(pairs.layers[index], 'layer').target, await readIntegers(integers));
  }
  const path = getOutputPath(outputs, 'model');
  await writeModel(path, quantized);
  const after = await measureOutputs(job, run, names, { digest: digestModelContent(quantized), path });
  const roundings = rounded.map(({ rounding }) => rounding);
  const report = { roundings, skipped: pairs.skipped, samples: samples.list.files.length, outputs: { before, after } };
  for (const [level, line] of summarizeRoundings(report)) context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportRoundings(report));
}

interface Rounded {
  readonly rounding: LayerRounding;
  /** Path of the integers that are kept. */
  readonly integers: string;
}

async function roundLayers(
  { inputs, context }: Job,
  { layers }: LayerPairs<unknown>,
  run: LayerManifest['run'],
): Promise<readonly Rounded[]> {
  const rounded: Rounded[] = [];
  const unkeyed = {
    float: getInputPath(inputs, 'float'),
    model: getInputPath(inputs, 'model'),
    samples: join(context.scratch, 'samples.json'),
    scratch: join(context.scratch, 'values'),
  };
  for (const layer of layers.keys()) {
    context.progress(layer, layers.length, 'layers');
    context.signal.throwIfAborted();
    const blobs = Object.fromEntries(rounded.map(({ integers }, index) => [String(index), integers]));
    const { files } = await context.memo(layerPart, { manifest: { run, layer }, blobs, unkeyed });
    rounded.push({
      rounding: parseRounding(await readJsonFile(getDefined(files[ROUNDING_FILE], ROUNDING_FILE))),
      integers: getDefined(files[INTEGERS_FILE], INTEGERS_FILE),
    });
  }
  context.progress(layers.length, layers.length, 'layers');
  return rounded;
}

async function measureOutputs(
  { inputs, context }: Job,
  { float, samples, arrays, session }: LayerManifest['run'],
  names: readonly string[],
  model: { readonly digest: string; readonly path: string },
): Promise<OutputSqnr> {
  const { files } = await context.memo(outputsPart, {
    manifest: { float, quantized: model.digest, outputs: names, samples, arrays, session },
    blobs: {},
    unkeyed: {
      float: getInputPath(inputs, 'float'),
      model: model.path,
      samples: join(context.scratch, 'samples.json'),
      scratch: context.scratch,
    },
  });
  return (await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE))) as OutputSqnr;
}

function nothingToRound({ skipped }: LayerPairs<unknown>): QuantError {
  const details = skipped.map(({ node, opType, reason }) => `${opType} "${node}": ${reason}`);
  return new QuantError(
    'nothing-to-round',
    `the model has no layer whose weights can be rounded${details.length === 0 ? '' : `: ${details[0]}`}`,
    {
      details,
      help: 'connect the output of `quantize` to `model`, and the float model that it quantized to `float`',
    },
  );
}
