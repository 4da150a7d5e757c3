/** Data type bf16: float models, judged by their own column, with the options and known defects of AMD's flow for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { float, ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { mergeOutputs, takeApart } from '../../../src/target/bundle/merged-outputs.js';
import { listRyzenAiOptions } from '../../../src/target/bundle/provider-options.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../../src/target/profile/choose-target.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { failureOf } from '../../support/error-code.js';
import { smallQdqModel } from '../../support/qdq-model.js';
import { runWhole } from '../../support/run-parts.js';
import { temporaryFolder } from '../../support/run-stage.js';
import { writeSmallBundle } from '../../support/small-bundle.js';
import { floats, randomConstant, randomFloats, type SmallNode, smallModel } from '../../support/small-model.js';
import { describeWithPython, runRunner, stubEnvironment } from '../../support/stub-onnxruntime.js';

const folder = await temporaryFolder('bf16');
afterAll(folder.remove);

const json = getBuiltInProfile('ryzen-ai');

/** A Conv, then `nodes` on "a". */
function behindConv(nodes: readonly SmallNode[], outputs: readonly string[] = ['y']): Model {
  return smallModel({
    opset: 17,
    inputs: { x: ['float32', [1, 4, 8, 8]] },
    constants: { w: randomConstant([4, 4, 3, 3]), slopes: randomConstant([4, 1, 1]), low: floats([], [0]), high: floats([], [6]) },
    nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['a'], attributes: { pads: ints([1, 1, 1, 1]) } }, ...nodes],
    outputs,
  });
}

const behind = (op: string, more: readonly string[] = [], attributes: SmallNode['attributes'] = {}) =>
  behindConv([{ op, in: ['a', ...more], out: ['y'], attributes }]);

async function judge(model: Model, choice: TargetChoice = {}): Promise<ModelReport> {
  const target = chooseTarget(json, { dtype: 'bf16', ...choice });
  return (await compileModel('m', model, target, { evaluate, undocumented: 'cpu', accept: 'quantized' })).report;
}

const findingsOf = ({ units, findings }: ModelReport): readonly string[] =>
  [...findings, ...units.flatMap(unit => unit.findings)].map(({ rule, severity }) => `${rule} ${severity}`);

describe('bf16', () => {
  it.each([
    ['Sigmoid', behind('Sigmoid'), []],
    ['Relu, which AMD’s example ran on the NPU', behind('Relu'), ['observed warning']],
    ['LeakyRelu', behind('LeakyRelu', [], { alpha: float(0.1) }), ['operator undocumented']],
    ['Clip', behind('Clip', ['low', 'high']), ['operator undocumented']],
    ['a kernel larger than the integer flow takes', behind('MaxPool', [], { kernel_shape: ints([1, 1]) }), []],
  ])('judges %s by its own column', async (_, model, expected) => {
    expect(findingsOf(await judge(model))).toEqual(expected);
  });

  it('takes one Conv, in one part', async () => {
    const report = await judge(behind('Sigmoid'));
    expect(report).toMatchObject({ legal: true, counts: { npuParts: 1, parts: 1, npuMacShare: 1 } });
  });

  it('warns of trained PReLU where it was wrong, and of several outputs', async () => {
    const slopes = behind('PRelu', ['slopes']);
    expect(findingsOf(await judge(slopes, { version: '1.7.1' }))).toContain('observed warning');
    expect(findingsOf(await judge(slopes, { version: '1.6' }))).not.toContain('observed warning');
    const two = behindConv(
      [
        { op: 'Sigmoid', in: ['a'], out: ['y'] },
        { op: 'Relu', in: ['a'], out: ['z'] },
      ],
      ['y', 'z'],
    );
    const report = await judge(two);
    expect(report).toMatchObject({ legal: true, findings: [{ rule: 'several-outputs', severity: 'warning', measured: '2 outputs' }] });
    expect(report.findings[0]?.source.ref).toBe('https://github.com/amd/RyzenAI-SW/issues/369');
  });

  it('refuses quantized models, devices before Strix and versions before 1.4', async () => {
    expect(await failureOf(() => judge(smallQdqModel()))).toMatchObject({ code: 'model-quantized' });
    expect(await failureOf(() => judge(behind('Relu'), { device: 'phx-hpt' }))).toMatchObject({ code: 'target-combination' });
    expect(await failureOf(() => judge(behind('Relu'), { version: '1.3' }))).toMatchObject({ code: 'target-combination' });
  });

  it('is estimated at a share of the integer rate, with half the bytes of the float model', async () => {
    const own = await judge(behind('Sigmoid'));
    const constants = new Map(own.estimate.basis.constants.map(({ name, value }) => [name, value]));
    const [conv, sigmoid] = own.units.map(({ estimate }) => estimate);
    const rate =
      (constants.get('efficiency of Conv, Gemm, MatMul') ?? 0) * (constants.get('peak') ?? 0) * (constants.get('rate of bf16') ?? 0);
    // 8 input and 16 output channels are computed at once, of which the Conv has 4 and 4.
    expect(conv?.computeMs).toBeCloseTo((1000 * 8 * 16 * 9 * 64) / rate, 9);
    // Two maps of 256 numbers with 2 bytes each.
    expect(sigmoid?.memoryMs).toBeCloseTo((1000 * 2 * 256 * 2) / (constants.get('bandwidth') ?? 0), 9);
    expect(conv?.ms).toBeCloseTo((constants.get('layer') ?? 0) + Math.max(conv?.computeMs ?? 0, conv?.memoryMs ?? 0), 9);
  });
});

describe('options for bf16', () => {
  const rows = listRyzenAiOptions(undefined, 'bf16');
  const configOf = (version: string) => rows.find(row => row.version === version)?.configFile;

  it('exist from 1.4 on, each with a configuration file in the form of its version', () => {
    expect(rows.map(({ version }) => version)).toEqual(['1.4', '1.5', '1.5.1', '1.6', '1.6.1', '1.7', '1.7.1', '1.8']);
    for (const { version, providerOptions } of rows) {
      expect(providerOptions.config_file).toBe(`\${BUNDLE}/ryzenai/${version}/vitisai_config.json`);
      expect(configOf(version)).toMatchObject({ passes: [{ plugin: 'vaip-pass_init' }, { plugin: 'vaip-pass_vaiml_partition' }] });
    }
    expect(configOf('1.4')).toMatchObject({ passes: [{}, { vaiml_config: { enable_f32_to_bf16_conversion: true } }] });
    expect(configOf('1.5')).not.toHaveProperty('targets');
    expect(configOf('1.7')).toMatchObject({ target: 'VAIML', targets: [{ name: 'VAIML', pass: ['init', 'vaiml_partition'] }] });
  });
});

const two = () =>
  behindConv(
    [
      { op: 'Sigmoid', in: ['a'], out: ['y'] },
      { op: 'GlobalAveragePool', in: ['a'], out: ['z'] },
    ],
    ['y', 'z'],
  );

describe('merged outputs', () => {
  it('are those of the model, bit for bit, behind each other in one row', async () => {
    const feeds = { x: randomFloats([1, 4, 8, 8], 4) };
    const { model, merged } = mergeOutputs('m', two());
    expect(merged).toEqual({
      name: 'merged_outputs',
      outputs: [
        { name: 'y', dims: [1, 4, 8, 8] },
        { name: 'z', dims: [1, 4, 1, 1] },
      ],
    });
    const [whole, joined] = [await runWhole(two(), feeds, 'basic'), await runWhole(model, feeds, 'basic')];
    const row = joined.merged_outputs;
    if (row === undefined || merged === undefined) throw new Error('no merged output');
    expect(row.dims).toEqual([1, 260]);
    const apart = takeApart(merged, row);
    expect([...apart.keys()]).toEqual(['y', 'z']);
    for (const [name, tensor] of apart) expect([tensor.dims, tensor.data]).toEqual([whole[name]?.dims, whole[name]?.data]);
  });

  it('leave a model with one output as it is, and refuse integers', async () => {
    const one = behind('Sigmoid');
    expect(mergeOutputs('m', one).model).toBe(one);
    const nodes = [
      { op: 'ArgMax', in: ['a'], out: ['i'] },
      { op: 'Sigmoid', in: ['a'], out: ['y'] },
    ];
    expect(await failureOf(() => mergeOutputs('m', behindConv(nodes, ['i', 'y'])))).toMatchObject({
      code: 'outputs-not-merged',
      message: 'model "m": output "i" is int64 1×4×8×8',
    });
  });

  it('have no finding about several outputs', async () => {
    expect(findingsOf(await judge(mergeOutputs('m', two()).model))).toEqual([]);
  });
});

describeWithPython('a bundle in bf16', () => {
  const write = (leastSqnrDb?: Readonly<Record<string, number>>) =>
    writeSmallBundle(folder.path, {
      model: behind('Sigmoid'),
      choice: { dtype: 'bf16' },
      ...(leastSqnrDb === undefined ? {} : { leastSqnrDb }),
    });
  const model = {
    inputs: [{ name: 'x', type: 'tensor(float)', shape: [1, 4, 8, 8] }],
    outputs: [{ name: 'y', type: 'tensor(float)', shape: [1, 4, 8, 8] }],
  };

  it('runs with its configuration file, and without a report of the provider', async () => {
    const bundle = await write();
    const log = join(folder.path, 'log');
    const environment = stubEnvironment(bundle, { log, model, zeros: 0.5, report: null, profile: [['y', 'VitisAIExecutionProvider']] });
    const { exitCode, stderr, stdout } = runRunner(bundle, ['check', '--cache-dir', join(folder.path, 'cache')], environment);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain('net: 2 nodes on the NPU');
    const { options } = JSON.parse(readFileSync(log, 'utf8').split('\n')[0] ?? '') as { options: Record<string, string> };
    expect(readFileSync(options.config_file ?? '', 'utf8')).toContain('vaip-pass_vaiml_partition');
  });

  it('names outputs that are no numbers for zeros', async () => {
    const bundle = await write();
    const environment = stubEnvironment(bundle, { model, zeros: 'nan', report: null, profile: [['y', 'VitisAIExecutionProvider']] });
    const { exitCode, stderr } = runRunner(bundle, ['check', '--cache-dir', join(folder.path, 'cache')], environment);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[not-finite]: net: output y has 256 elements that are no finite number for an input of zeros');
  });

  it.each([
    [{ y: 5 }, 0],
    [undefined, 1],
  ])('takes errors up to its own tolerance %j', async (least, code) => {
    const bundle = await write(least);
    const changes = { model, zeros: 0, disturb: 0.15, report: null, profile: [['y', 'VitisAIExecutionProvider']] };
    const { exitCode, stderr } = runRunner(bundle, ['check', '--cache-dir', join(folder.path, 'cache')], stubEnvironment(bundle, changes));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: code, stderr: expect.stringMatching(code === 0 ? /./ : /golden-mismatch/) });
  });

  it('takes the outputs of a merged one apart, and compares each', async () => {
    const { model: joined, merged } = mergeOutputs('net', two());
    if (merged === undefined) throw new Error('not merged');
    const bundle = await writeSmallBundle(folder.path, { model: joined, choice: { dtype: 'bf16' }, merged });
    const golden = bundle.manifest.models[0]?.golden[0]?.arrays ?? [];
    expect(golden.filter(({ role }) => role === 'output').map(({ name }) => name)).toEqual(['y', 'z']);
    const changes = {
      model: { inputs: model.inputs, outputs: [{ name: merged.name, type: 'tensor(float)', shape: [1, 260] }] },
      joined: { name: merged.name, outputs: ['y', 'z'] },
      zeros: 0,
      report: null,
      profile: [['y', 'VitisAIExecutionProvider']],
    };
    const run = (more: JsonObject) =>
      runRunner(bundle, ['check', '--cache-dir', join(folder.path, 'cache')], stubEnvironment(bundle, { ...changes, ...more }));
    const right = run({});
    expect(right).toMatchObject({ exitCode: 0 });
    expect(right.stdout).toContain('net: z: largest difference 0, SQNR 999.0 dB');
    // The last four of the row are "z".
    const wrong = run({
      unwritten: [
        [0, 1],
        [256, 260],
      ],
    });
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain('output z');
  });
});
