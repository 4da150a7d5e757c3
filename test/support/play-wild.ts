/**
 * Program for `test/models/wild.slow.ts`: takes one network from its file to a bundle, and prints what was found as JSON.
 * It is no test module, because loops over weights take ten times as long inside of jest.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { inferShapes } from '../../src/onnx/shape-inference/infer-shapes.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';
import { calibrate } from '../../stages/calibrate/stage.js';
import { compile } from '../../stages/compile/stage.js';
import { importStage } from '../../stages/import/stage.js';
import { quantize } from '../../stages/quantize/stage.js';
import { simplify } from '../../stages/simplify/stage.js';
import { split } from '../../stages/split/stage.js';
import { runStage, temporaryFolder } from './run-stage.js';
import { randomFloats } from './small-model.js';
import { readWildModel } from './wild-models.js';

/** What the program prints. */
export interface WildRun {
  /** Values of the network as exported whose shapes are inferred. */
  readonly valuesWithShape: number;
  /** Nodes that `simplify` leaves. */
  readonly nodes: number;
  /** Nodes in the report of `compile`; of whole detectors, those of their layers. */
  readonly compiledNodes: number;
  /** Processor time, because tests share the cores. */
  readonly secondsByStage: Readonly<Record<string, number>>;
}

/** Whole detectors, whose sizes depend on the data: their layers of known sizes are compiled. */
const DYNAMIC = /rcnn|fcos|retinanet|ssdlite|own_peaks/;

/** Networks of float16. */
const HALF = /own_half/;

const [name = ''] = process.argv.slice(2);
const folder = await temporaryFolder('wild');
try {
  process.stdout.write(JSON.stringify(await playNetwork(folder.path)));
} finally {
  await folder.remove();
}

async function playNetwork(at: string): Promise<WildRun> {
  const secondsByStage: Record<string, number> = {};
  const run: typeof runStage = async (plugin, options) => {
    const began = process.cpuUsage();
    const result = await runStage(plugin, options);
    const { user, system } = process.cpuUsage(began);
    secondsByStage[plugin.name] = (user + system) / 1e6;
    return result;
  };
  const source = join(at, 'model.onnx');
  const wild = readWildModel(name);
  await writeModel(source, wild);
  const imported = await run(importStage, { params: HALF.test(name) ? { float16: 'widen' } : {}, inputs: { model: source }, folder: at });
  const simple = await run(simplify, { params: {}, inputs: { model: imported.outputs.model }, folder: at });
  const { after } = (await readJsonFile(simple.outputs.report ?? '')) as { readonly after: { readonly nodes: number } };
  const found = { valuesWithShape: countShaped(wild), nodes: after.nodes, secondsByStage };
  const network = DYNAMIC.test(name)
    ? (await run(split, { params: { cuts: 'static' }, inputs: { model: simple.outputs.model }, folder: at })).outputs.network
    : simple.outputs.model;
  return { ...found, compiledNodes: await quantizeAndCompile(network ?? '', at, run) };
}

function countShaped(model: Model): number {
  const types = inferShapes(model);
  return [...model.graph.values.values()].filter(({ id, producer }) => producer !== undefined && types.get(id)?.dims !== undefined).length;
}

async function quantizeAndCompile(model: string, at: string, run: typeof runStage): Promise<number> {
  const tensors = await writeInputs(await readModel(model), join(at, 'inputs'));
  const { sketches } = (await run(calibrate, { params: {}, inputs: { model, tensors }, folder: at })).outputs;
  const quantized = await run(quantize, { params: { preset: 'a8w8' }, inputs: { model, sketches }, folder: at });
  const compiled = await run(compile, {
    params: { target: 'ryzen-ai', dtype: 'a8w8' },
    inputs: { model: quantized.outputs.model },
    folder: at,
  });
  const { total } = (await readJsonFile(compiled.outputs.metrics ?? '')) as { readonly total: Readonly<Record<string, number>> };
  return (total.npuNodes ?? 0) + (total.cpuNodes ?? 0) + (total.edgeNodes ?? 0);
}

async function writeInputs(model: Model, at: string): Promise<string> {
  await mkdir(at);
  const inputs = model.graph.inputs.map(id => getValue(model.graph, id));
  for (const seed of [1, 2]) {
    const arrays = inputs.map(({ name: input, type }): [string, ReturnType<typeof randomFloats>] => {
      const dims = type?.kind === 'tensor' ? (type.dims ?? []) : [];
      return [input, randomFloats(dims.map(Number), seed)];
    });
    await writeNpz(join(at, `${seed}.npz`), new Map(arrays));
  }
  return at;
}
