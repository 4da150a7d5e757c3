/** Is whatever a runner does instead of answering said as exactly that, and is no result given? */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import type { ExternalParams } from '../../../../src/runtime/device/runner-params.js';
import { openExternalRunner } from '../../../../src/runtime/external/open-external.js';
import type { SpawnOptions } from '../../../../src/stage/context.js';
import { baseEnvironment, startTool } from '../../../../src/stage/tool-runner.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { externalParams, FAULTY_RUNNER, testHost } from '../../../support/runner-host.js';
import { smallModel } from '../../../support/small-model.js';

const folder = await temporaryFolder('faulty-runner');
afterAll(folder.remove);

const relu = smallModel({ inputs: { x: ['float32', ['n', 4]] }, nodes: [{ op: 'Relu', in: ['x'], out: ['y'] }], outputs: ['y'] });
const value = relu.graph.values.get(relu.graph.outputs[0] as never);
if (value !== undefined) value.type = { kind: 'tensor', dtype: 'float32', dims: ['n', 4] };
const modelPath = join(folder.path, 'relu.onnx');
writeFileSync(modelPath, encodeModel(relu));
const x = makeTensor('float32', [2, 4], Float32Array.from([-1, 2, -3, 4, 5, -6, 7, -8]));

const SHORT = { startSeconds: 0.5, loadSeconds: 0.5, runSeconds: 0.5 };

/** Opens the runner in `mode` and the model, runs it `runs` times. */
async function runIn(mode: string, changes: Partial<ExternalParams> = {}, runs = 1) {
  const host = testHost(folder.path);
  const runner = await openExternalRunner(
    externalParams([process.execPath, './program.mjs', mode], changes),
    { program: FAULTY_RUNNER },
    host,
  );
  try {
    const session = await runner.open(modelPath, { optimization: 'all' });
    const results: Readonly<Record<string, Tensor>>[] = [];
    for (let run = 0; run < runs; run++) results.push(await session.run({ x }));
    return { host, runner, session, results };
  } finally {
    await runner.close();
  }
}

describe('a runner that does what it should', () => {
  it('gives its identity at its start, the outputs, and where the nodes ran', async () => {
    const { host, runner, session, results } = await runIn('good');
    expect(host.identities).toEqual([runner.identity]);
    expect(runner.identity).toMatchObject({ provider: 'TestExecutionProvider', device: { kind: 'npu', driver: '1.0' } });
    expect(session.inputNames).toEqual(['x']);
    expect([...(results[0]?.y?.data ?? [])]).toEqual([0, 2, 0, 4, 5, 0, 7, 0]);
    expect(session.placement).toEqual([
      { device: 'npu', provider: 'TestExecutionProvider', nodes: 10 },
      { device: 'cpu', provider: 'CPUExecutionProvider', nodes: 2 },
    ]);
  });

  it('measures by its own clock', async () => {
    const runner = await openExternalRunner(externalParams([process.execPath, FAULTY_RUNNER]), {}, testHost(folder.path));
    const session = await runner.open(modelPath, { optimization: 'all' });
    const { durationsMs, outputs } = await session.measure({ x }, { warmup: 2, repeats: 3 });
    expect(durationsMs).toEqual([0.5, 1.5, 2.5]);
    expect(outputs.y?.dims).toEqual([2, 4]);
    await session.close();
    await runner.close();
  });

  it('is sent the model where it has other files', async () => {
    const { results } = await runIn('good', { models: 'bytes' });
    expect(results[0]?.y?.dims).toEqual([2, 4]);
  });
});

describe('a runner that fails', () => {
  it.each<[mode: string, code: string, said: string, changes?: Partial<ExternalParams>]>([
    ['crash-at-start', 'runner-died', 'no driver found'],
    ['exit-at-start', 'runner-died', 'ended with exit code 3 while starting'],
    ['hang-at-start', 'runner-timeout', 'no answer within 0.5 s while starting', { timeouts: { ...SHORT, loadSeconds: 20 } }],
    ['garbage-at-start', 'runner-garbage', 'Loading the driver'],
    ['old-protocol', 'runner-protocol', 'version 0 of the protocol'],
    ['no-identity', 'runner-protocol', 'identity.runner: should be an object, it is missing'],
    ['cpu-at-hello', 'runner-cpu-fallback', 'speaks for the CPU "test device" (CPUExecutionProvider), the stage wants the NPU'],
    ['gpu-at-hello', 'runner-device', 'speaks for the GPU'],
    ['hang-in-load', 'runner-timeout', 'while loading a model', { timeouts: { ...SHORT, startSeconds: 20 } }],
    ['hang-in-load', 'runner-timeout', 'loading relu.onnx, 0 bytes sent', { timeouts: { ...SHORT, startSeconds: 20 } }],
    ['refuse-in-load', 'runner-refused', 'the compiler gave up at node 7'],
    ['other-model', 'runner-outputs', 'output "y" is [1, 5], the model makes it [?, 4]'],
    ['crash-in-run', 'runner-died', 'was ended by SIGSEGV while running a model'],
    ['hang-in-run', 'runner-timeout', 'while running a model', { timeouts: { ...SHORT, startSeconds: 20, loadSeconds: 20 } }],
    ['garbage-in-run', 'runner-garbage', 'warning: slow'],
    ['half-an-answer', 'runner-died', 'in the middle of an answer'],
    ['huge-header', 'runner-protocol', 'header of an answer has 4294967295 bytes'],
    ['huge-payload', 'runner-protocol', 'payload of an answer has 1152921504606846976 bytes'],
    ['wrong-shape', 'runner-outputs', 'output "y" is [2, 4, 1], the model makes it [2, 4]'],
    ['wrong-rows', 'runner-outputs', 'output "y" is [1, 4], the model makes it [2, 4]'],
    ['wrong-dtype', 'runner-outputs', 'output "y" is int32, the model makes it float32'],
    ['wrong-name', 'runner-outputs', 'its outputs are z; asked was for y'],
    ['wrong-length', 'runner-outputs', 'a float32 tensor [2, 4] has 32 bytes, got 28'],
    ['short-payload', 'runner-outputs', 'its outputs have 32 bytes, the payload has 28'],
    ['wrong-times', 'runner-protocol', 'durationsMs'],
    ['wrong-id', 'runner-protocol', 'it answers request'],
    ['cpu-in-run', 'runner-cpu-fallback', 'of its nodes none ran on the NPU: 12 on the CPU (CPUExecutionProvider)'],
    ['mostly-cpu', 'runner-cpu-fallback', '2 of 12, at least 6 are wanted, ran on the NPU'],
  ])('by %s gives no result, and says %s: %s', async (mode, code, said, changes = {}) => {
    const failing = runIn(mode, changes);
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
    await expect(failing).rejects.toThrow(/standard error/);
  });

  it('in a later run gives no result of that run', async () => {
    await expect(runIn('cpu-in-second-run', {}, 2)).rejects.toMatchObject({ code: 'runner-cpu-fallback' });
    const { results } = await runIn('cpu-in-second-run', {}, 1);
    expect(results).toHaveLength(1);
  });

  it('once gives nothing any more', async () => {
    const runner = await openExternalRunner(externalParams([process.execPath, FAULTY_RUNNER, 'wrong-name']), {}, testHost(folder.path));
    const session = await runner.open(modelPath, { optimization: 'all' });
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'runner-outputs' });
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'runner-outputs' });
    await runner.close();
  });

  it('by a message that nobody asked for gives nothing after it', async () => {
    await expect(runIn('unasked', {}, 3)).rejects.toMatchObject({ code: 'runner-protocol' });
  });

  it('behind a shell that started it and is gone holds nobody up', async () => {
    const surroundings = { env: baseEnvironment(process.env, folder.path), signal: new AbortController().signal, log: () => undefined };
    const host = {
      ...testHost(folder.path),
      // As in a worker, where programs share the group that is killed with the stage.
      start: (command: readonly string[], options: SpawnOptions) => startTool(command, options, { ...surroundings, group: 'shared' }),
    };
    const script = `${process.execPath} ${FAULTY_RUNNER} hang-at-start; true`;
    const timeouts = { startSeconds: 0.5, loadSeconds: 1, runSeconds: 1 };
    const opening = openExternalRunner(externalParams(['sh', '-c', script], { timeouts }), {}, host);
    await expect(opening).rejects.toMatchObject({ code: 'runner-timeout' });
  });

  it('by not being there is said to be missing', async () => {
    const opening = openExternalRunner(externalParams(['no-such-program']), {}, testHost(folder.path));
    await expect(opening).rejects.toMatchObject({ code: 'tool-missing' });
  });
});

describe('a fall back to the CPU that the stage allows', () => {
  it.each(['cpu-at-hello', 'cpu-in-run', 'mostly-cpu'])('gives results, and a warning (%s)', async mode => {
    const { host, results } = await runIn(mode, { cpuFallback: 'allow' }, 2);
    expect(results).toHaveLength(2);
    expect(host.warnings.filter(line => line.includes('as external.cpuFallback allows it'))).toHaveLength(1);
  });
});
