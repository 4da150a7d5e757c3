/** Presets bf16 and bfp16 of `quantize`: what runs on the CPU afterwards is what the device computes, and `compile` gets the float model back. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { int } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { addSample, encodeModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { parseQuantizationReport } from '../../../src/quant/report/report-entries.js';
import type { Sketch } from '../../../src/quant/sketch/sketch.js';
import { compile } from '../../../stages/compile/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { runWhole } from '../../support/run-parts.js';
import { parseParams, runStage, temporaryFolder } from '../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

const folder = await temporaryFolder('quantize-floats');
afterAll(folder.remove);

const net = (op = 'Sigmoid'): Model =>
  smallModel({
    opset: 17,
    inputs: { x: ['float32', [1, 8, 4, 4]] },
    constants: { w: randomConstant([8, 8, 1, 1]) },
    nodes: [
      { op: 'Conv', in: ['x', 'w'], out: ['a'] },
      { op, in: ['a'], out: ['y'] },
    ],
    outputs: ['y'],
  });

let model: string;
let sketches: string;
beforeAll(async () => {
  model = join(folder.path, 'model.onnx');
  await writeModel(model, net());
  const sketcher = openSketcher(net(), { budgetBytes: 1e9, freeDim: 1 });
  const total = new Map<string, Sketch>();
  addSample(total, await sketcher.sample({ x: randomFloats([1, 8, 4, 4]) }));
  await sketcher.close();
  const values = new Map([...total].map(([address, sketch]) => [address, { name: 'a value', sketch }]));
  sketches = join(folder.path, 'sketches.json');
  await writeFile(sketches, JSON.stringify(encodeModelSketches({ model: digestModelContent(net()), samples: 1, values })));
});

const run = (preset: string, more = {}) =>
  runStage(quantize, { params: { preset, ...more }, inputs: { model, sketches }, folder: folder.path });

/** Casts to bfloat16 and back, by ONNX Runtime's own kernel, around every node of the network. */
function byCasts(): Model {
  const cast = (from: string, to: string) => [
    { op: 'Cast', in: [from], out: [`${to}_b`], attributes: { to: int(16) } },
    { op: 'Cast', in: [`${to}_b`], out: [to], attributes: { to: int(1) } },
  ];
  return smallModel({
    opset: 17,
    inputs: { x: ['float32', [1, 8, 4, 4]] },
    constants: { w: randomConstant([8, 8, 1, 1]) },
    nodes: [
      ...cast('x', 'xr'),
      ...cast('w', 'wr'),
      { op: 'Conv', in: ['xr', 'wr'], out: ['a'] },
      ...cast('a', 'ar'),
      { op: 'Sigmoid', in: ['ar'], out: ['s'] },
      ...cast('s', 'y'),
    ],
    outputs: ['y'],
  });
}

describe('quantize with a float preset', () => {
  it('bf16 computes the numbers of casts around every node', async () => {
    const { outputs } = await run('bf16');
    const feeds = { x: randomFloats([1, 8, 4, 4], 9) };
    const rounded = await runWhole(await readModel(outputs.model ?? ''), feeds, 'basic');
    expect(rounded.y?.data).toEqual((await runWhole(byCasts(), feeds, 'disabled')).y?.data);
    expect(rounded.y?.data).not.toEqual((await runWhole(net(), feeds, 'basic')).y?.data);
  });

  it.each(['bf16', 'bfp16'])('%s has a report of its contract, without integers', async preset => {
    const { outputs } = await run(preset);
    const report = parseQuantizationReport(JSON.parse(readFileSync(outputs.report ?? '', 'utf8')), warning => {
      throw new Error(warning);
    });
    expect(report).toMatchObject({ scheme: { preset: { name: preset, version: '0.11' } }, counts: { nodesInFloat: 2, weights: 0 } });
  });

  it('has no settings of integers', async () => {
    expect(() => parseParams(quantize, { preset: 'bf16', weight: { bits: 4 }, exclude: [{ tensor: 'a' }] })).toThrow(
      'preset bf16 has no integers to set: remove weight, exclude',
    );
    expect(() => parseParams(quantize, { preset: 'bf17' })).toThrow('preset');
    expect(() => parseParams(quantize, { preset: 'xint8', weight: { bits: 4 } })).not.toThrow();
  });

  it.each(['bf16', 'bfp16'])('%s is compiled as the float model, with its tolerance', async preset => {
    const { outputs } = await run(preset);
    const done = await runStage(compile, {
      params: { target: 'ryzen-ai', dtype: 'bf16' },
      inputs: { model: outputs.model ?? '' },
      folder: folder.path,
    });
    const bundle = done.outputs.bundle ?? '';
    const whole = await readModel(join(bundle, 'models/model/whole.onnx'));
    expect([...whole.graph.nodes.values()].map(({ opType }) => opType)).toEqual(['Conv', 'Sigmoid']);
    expect([whole.irVersion, whole.opsets.get('')]).toEqual([8, 17]);
    const { models } = JSON.parse(readFileSync(join(bundle, 'manifest.json'), 'utf8')) as {
      models: { form: string; probeZeros: boolean; leastSqnrDb: { y: number } }[];
    };
    expect(models).toMatchObject([{ form: 'float', probeZeros: true }]);
    // 8 bits with one exponent for eight numbers keep some 30 to 50 dB of a layer; 6 dB are the margin.
    expect(models[0]?.leastSqnrDb.y).toBeGreaterThan(20);
    expect(models[0]?.leastSqnrDb.y).toBeLessThan(60);
    expect(readFileSync(join(bundle, 'ryzenai/1.8/vitisai_config.json'), 'utf8')).toContain('"VAIML"');
  });
});
