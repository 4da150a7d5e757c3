/**
 * Networks as PyTorch exports them go through import, simplify, calibrate, quantize and compile. Oracles: the values whose shapes onnx 1.23 infers, the nodes
 * that ONNX Runtime 1.30 leaves at its basic level, and the outputs that ONNX Runtime computes for the network as exported (the proofs of the stages).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import type { Pass } from '../../src/onnx/passes/pass.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { inferShapes } from '../../src/onnx/shape-inference/infer-shapes.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';
import { calibrate } from '../../stages/calibrate/stage.js';
import { compile } from '../../stages/compile/stage.js';
import { importStage } from '../../stages/import/stage.js';
import { quantize } from '../../stages/quantize/stage.js';
import { simplify } from '../../stages/simplify/stage.js';
import { runStage, temporaryFolder } from '../support/run-stage.js';
import { randomFloats } from '../support/small-model.js';
import { listWildModels, readWildFacts, readWildModel } from '../support/wild-models.js';

/** The longest that one network may take, from the file to its bundle. */
const LIMIT_MS = 60_000;

const facts = readWildFacts();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder('wild');
});
afterAll(() => folder.remove());

function countShaped(model: Model): number {
  const types = inferShapes(model);
  return [...model.graph.values.values()].filter(({ id, producer }) => producer !== undefined && types.get(id)?.dims !== undefined).length;
}

async function writeInputs(model: Model, at: string): Promise<string> {
  await mkdir(at);
  const inputs = model.graph.inputs.map(id => getValue(model.graph, id));
  for (const seed of [1, 2]) {
    const arrays = inputs.map(({ name, type }): [string, ReturnType<typeof randomFloats>] => {
      const dims = type?.kind === 'tensor' ? (type.dims ?? []) : [];
      return [name, randomFloats(dims.map(Number), seed)];
    });
    await writeNpz(join(at, `${seed}.npz`), new Map(arrays));
  }
  return at;
}

/** Whole detectors, whose sizes depend on the data: they compile after a cut. */
const DYNAMIC = /rcnn|fcos|retinanet|ssdlite/;

describe.each(listWildModels())('%s', name => {
  it('is checked, imported, simplified, quantized and compiled', async () => {
    const began = performance.now();
    const at = join(folder.path, name);
    const source = join(at, 'model.onnx');
    const wild = readWildModel(name);
    await writeModel(source, wild);
    expect(countShaped(wild)).toBeGreaterThanOrEqual(facts[name]?.valuesWithShapeByOnnx ?? Number.POSITIVE_INFINITY);
    const imported = await runStage(importStage, { params: {}, inputs: { model: source }, folder: at });
    const simple = await runStage(simplify, { params: {}, inputs: { model: imported.outputs.model }, folder: at });
    const { after } = (await readJsonFile(simple.outputs.report ?? '')) as { readonly after: { readonly nodes: number } };
    expect(after.nodes).toBeLessThanOrEqual(facts[name]?.onnxruntimeBasicNodes ?? 0);
    if (!DYNAMIC.test(name)) await quantizeAndCompile(simple.outputs.model ?? '', at);
    expect(performance.now() - began).toBeLessThan(LIMIT_MS);
  });
});

async function quantizeAndCompile(model: string, at: string): Promise<void> {
  const tensors = await writeInputs(await readModel(model), join(at, 'inputs'));
  const { sketches } = (await runStage(calibrate, { params: {}, inputs: { model, tensors }, folder: at })).outputs;
  const quantized = await runStage(quantize, { params: { preset: 'a8w8' }, inputs: { model, sketches }, folder: at });
  const compiled = await runStage(compile, {
    params: { target: 'ryzen-ai', dtype: 'a8w8' },
    inputs: { model: quantized.outputs.model },
    folder: at,
  });
  const { total } = (await readJsonFile(compiled.outputs.metrics ?? '')) as { readonly total: Readonly<Record<string, number>> };
  expect((total.npuNodes ?? 0) + (total.cpuNodes ?? 0) + (total.edgeNodes ?? 0)).toBeGreaterThan(0);
}

describe('the order of the passes', () => {
  it.each([
    'own_yolov8.ts',
    'timm_fastvit_t8.ts',
    'tv_raft_small.ts',
    'tv_retinanet_resnet50_fpn.ts',
    'tv_shufflenet_v2_x1_0.ts',
    'tv_swin_t.dynamo',
  ])('does not change which operators are left of %s', async name => {
    const operatorsLeft = async (passes: readonly Pass[]): Promise<readonly string[]> => {
      const model = readWildModel(name);
      sortTopologically(model.graph);
      await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [], passes });
      return [...model.graph.nodes.values()].map(({ opType }) => opType).sort();
    };
    const odd = SIMPLIFY_PASSES.filter((_, index) => index % 2 === 1);
    const wanted = await operatorsLeft(SIMPLIFY_PASSES);
    expect(await operatorsLeft([...SIMPLIFY_PASSES].reverse())).toEqual(wanted);
    expect(await operatorsLeft([...odd, ...SIMPLIFY_PASSES.filter(pass => !odd.includes(pass))])).toEqual(wanted);
  });
});
