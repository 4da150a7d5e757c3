/** Faults between a build and its remote workers: at every message of an execution, and in the middle of an action. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createFakeWorker, smallRuntime } from '../../support/remote/fake-worker.js';
import { type Fault, type GrpcProxy, type Passing, startGrpcProxy } from '../../support/remote/grpc-proxy.js';
import { QUICK_CONNECTION } from '../../support/remote/quick-connection.js';
import { createRig } from '../../support/remote/remote-rig.js';
import { until } from '../../support/until.js';
import type { World } from '../../support/world.js';

const rig = createRig({ ...QUICK_CONNECTION, patience: { ...QUICK_CONNECTION.patience, callMs: 3_000 } });
const options: FakeServerOptions = {};
let server: FakeServer;
let proxy: GrpcProxy;
let folder: string;
let fault: (message: Passing) => Fault | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-faults-'));
  options.worker = createFakeWorker();
  server = await startFakeServer(options);
  fault = () => undefined;
  proxy = await startGrpcProxy(server.port, message => fault(message));
});
afterEach(async () => {
  rig.removeAll();
  await proxy.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function checkout(params: Readonly<Record<string, string>> = {}): World {
  return rig.checkout({ act: { uses: 'act', params, inputs: { text: 'source.txt' } } });
}

function build(world: World, executor: 'auto' | 'remote') {
  const use = { executor, read: false, write: false } as const;
  return rig.build(world, `grpc://127.0.0.1:${proxy.port}`, use, { failures: 'keep-going' }, { runtime: smallRuntime(folder) });
}

const UNAVAILABLE: Fault = { kind: 'status', code: status.UNAVAILABLE };
const OF_EXECUTION: ReadonlySet<string> = new Set([
  'getCapabilities',
  'findMissing',
  'batchUpdate',
  'write',
  'execute',
  'waitExecution',
  'read',
  'batchRead',
]);

it('one UNAVAILABLE at any message of an execution changes nothing', async () => {
  const messages: Passing[] = [];
  fault = message => {
    messages.push(message);
    return undefined;
  };
  const whole = await build(checkout(), 'remote');
  expect([whole.outcomes, whole.warnings]).toEqual([{ act: 'executed' }, []]);
  const count = messages.length;
  expect(new Set(messages.map(({ method }) => method))).toContain('execute');
  for (let at = 0; at < count; at++) {
    const before = proxy.messages();
    fault = ({ number, method }) => (number === before + at && OF_EXECUTION.has(method) ? UNAVAILABLE : undefined);
    const { outcomes, warnings } = await build(checkout(), 'remote');
    expect([at, outcomes, warnings]).toEqual([at, { act: 'executed' }, []]);
  }
});

it('a stream that breaks after the action was accepted is taken up again by its name', async () => {
  let broken = 0;
  let executed = 0;
  fault = ({ method, direction }) => {
    if (method === 'execute' && direction === 'to-server') executed++;
    // The second message of the stream is the end of the action.
    return method === 'execute' && direction === 'to-client' && ++broken === 2 ? UNAVAILABLE : undefined;
  };
  const { outcomes } = await build(checkout(), 'remote');
  expect(outcomes).toEqual({ act: 'executed' });
  expect([executed, server.calls.filter(name => name === 'waitExecution').length]).toEqual([1, 1]);
});

it('an operation that the server has forgotten is executed again', async () => {
  let broken = 0;
  fault = ({ method, direction }) => {
    if (method === 'waitExecution' && direction === 'to-server') return { kind: 'status', code: status.NOT_FOUND };
    return method === 'execute' && direction === 'to-client' && ++broken === 2 ? UNAVAILABLE : undefined;
  };
  expect((await build(checkout(), 'remote')).outcomes).toEqual({ act: 'executed' });
  expect(server.calls.filter(name => name === 'execute')).toHaveLength(2);
});

it.each([
  ['hangs', { kind: 'hang' }],
  ['refuses the token', { kind: 'status', code: status.UNAUTHENTICATED }],
  ['is out of capacity for good', { kind: 'status', code: status.RESOURCE_EXHAUSTED }],
  ['answers with something else', { kind: 'replace', bytes: Buffer.from('not an operation') }],
  ['has an operation without a response', { kind: 'replace', bytes: Buffer.from([0x18, 1]) }],
] as const)('a server that %s is one line under auto, and one coded failure under remote', async (_what, trouble) => {
  fault = ({ method, direction }) =>
    method === 'execute' && direction === (trouble.kind === 'replace' ? 'to-client' : 'to-server') ? trouble : undefined;
  const { report } = await build(checkout(), 'remote');
  expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  const falling = await build(checkout(), 'auto');
  expect([falling.outcomes, falling.warnings]).toEqual([{ act: 'executed' }, ['remote-execution-failed']]);
});

it('a server that dies in the middle of an action is one line under auto, and the stage runs here', async () => {
  const begun = join(folder, 'begun');
  const goOn = join(folder, 'go-on');
  const building = build(checkout({ trace: begun, until: goOn }), 'auto');
  await until(() => existsSync(begun));
  await proxy.close();
  await server.close();
  writeFileSync(goOn, '');
  const { outcomes, warnings } = await building;
  expect([outcomes, warnings]).toEqual([{ act: 'executed' }, ['remote-execution-failed']]);
});
