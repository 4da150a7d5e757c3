/** Faults of external runners: each has its error, and none gives a result. */
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

/** Opens the runner in `mode` and the model, and runs it `runs` times. */
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

describe('a correct runner', () => {
  it('reports its identity at the start, the outputs, and the placement of nodes', async () => {
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

  it('receives the model as bytes if it has no access to files', async () => {
    const { results } = await runIn('good', { models: 'bytes' });
    expect(results[0]?.y?.dims).toEqual([2, 4]);
  });
});

describe('a runner that fails', () => {
  it.each<[mode: string, code: string, said: string, changes?: Partial<ExternalParams>]>([
    ['crash-at-start', 'runner-died', 'no driver found'],
    ['exit-at-start', 'runner-died', 'ended with exit code 3 while starting'],
    ['hang-at-start', 'runner-timeout', 'did not answer within 0.5 s while starting', { timeouts: { ...SHORT, loadSeconds: 20 } }],
    ['garbage-at-start', 'runner-garbage', 'Loading the driver'],
    ['old-protocol', 'runner-protocol', 'protocol version 0'],
    ['no-identity', 'runner-protocol', 'identity.runner: should be an object, it is missing'],
    ['cpu-at-hello', 'runner-cpu-fallback', 'uses the CPU "test device" (CPUExecutionProvider), but the stage requires the NPU'],
    ['gpu-at-hello', 'runner-device', 'uses the GPU'],
    ['hang-in-load', 'runner-timeout', 'while loading a model', { timeouts: { ...SHORT, startSeconds: 20 } }],
    ['hang-in-load', 'runner-timeout', 'loading relu.onnx, 0 bytes sent', { timeouts: { ...SHORT, startSeconds: 20 } }],
    ['refuse-in-load', 'runner-refused', 'the compiler gave up at node 7'],
    ['other-model', 'runner-outputs', 'output "y" is [1, 5], expected [?, 4]'],
    ['crash-in-run', 'runner-died', 'was ended by SIGSEGV while running a model'],
    ['hang-in-run', 'runner-timeout', 'while running a model', { timeouts: { ...SHORT, startSeconds: 20, loadSeconds: 20 } }],
    ['garbage-in-run', 'runner-garbage', 'warning: slow'],
    ['half-an-answer', 'runner-died', 'in the middle of an answer'],
    ['huge-header', 'runner-protocol', 'header of an answer has 4294967295 bytes'],
    ['huge-payload', 'runner-protocol', 'payload of an answer has 1152921504606846976 bytes'],
    ['wrong-shape', 'runner-outputs', 'output "y" is [2, 4, 1], expected [2, 4]'],
    ['wrong-rows', 'runner-outputs', 'output "y" is [1, 4], expected [2, 4]'],
    ['wrong-dtype', 'runner-outputs', 'output "y" is int32, expected float32'],
    ['wrong-name', 'runner-outputs', 'its outputs are z; expected y'],
    ['wrong-length', 'runner-outputs', 'a float32 tensor [2, 4] needs 32 bytes, got 28'],
    ['short-payload', 'runner-outputs', 'its headers announce 32 bytes, but the payload has 28'],
    ['wrong-times', 'runner-protocol', 'durationsMs'],
    ['wrong-id', 'runner-protocol', 'it answers request'],
    ['cpu-in-run', 'runner-cpu-fallback', 'no node ran on the NPU: 12 on the CPU (CPUExecutionProvider)'],
    ['mostly-cpu', 'runner-cpu-fallback', 'only 2 of 12 nodes (expected at least 6) ran on the NPU'],
  ])('with %s gives no result but %s: %s', async (mode, code, said, changes = {}) => {
    const failing = runIn(mode, changes);
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
    await expect(failing).rejects.toThrow(/standard error/);
  });

  it('in a later run gives no result of that run', async () => {
    await expect(runIn('cpu-in-second-run', {}, 2)).rejects.toMatchObject({ code: 'runner-cpu-fallback' });
    const { results } = await runIn('cpu-in-second-run', {}, 1);
    expect(results).toHaveLength(1);
  });

  it('fails every later request', async () => {
    const runner = await openExternalRunner(externalParams([process.execPath, FAULTY_RUNNER, 'wrong-name']), {}, testHost(folder.path));
    const session = await runner.open(modelPath, { optimization: 'all' });
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'runner-outputs' });
    await expect(session.run({ x })).rejects.toMatchObject({ code: 'runner-outputs' });
    await runner.close();
  });

  it('with a message without a request gives no result after it', async () => {
    await expect(runIn('unasked', {}, 3)).rejects.toMatchObject({ code: 'runner-protocol' });
  });

  it('started by a shell that has exited does not block', async () => {
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

  it('that does not exist is reported as missing', async () => {
    const opening = openExternalRunner(externalParams(['no-such-program']), {}, testHost(folder.path));
    await expect(opening).rejects.toMatchObject({ code: 'tool-missing' });
  });
});

describe('an allowed fallback to the CPU', () => {
  it.each(['cpu-at-hello', 'cpu-in-run', 'mostly-cpu'])('gives results, and a warning (%s)', async mode => {
    const { host, results } = await runIn(mode, { cpuFallback: 'allow' }, 2);
    expect(results).toHaveLength(2);
    expect(host.warnings.filter(line => line.includes('because of external.cpuFallback: allow'))).toHaveLength(1);
  });
});
