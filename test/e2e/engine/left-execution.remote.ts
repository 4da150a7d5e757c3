/** Builds whose stages run on workers and leave their outputs on the server: what comes here, what is known, and what is made again. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import type { BuildOptions } from '../../../src/engine/build.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import type { RemoteUse } from '../../../src/engine/store/remote/remote-use.js';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createFakeWorker, smallRuntime } from '../../support/remote/fake-worker.js';
import { artifactsOf, createRig } from '../../support/remote/remote-rig.js';
import type { World } from '../../support/world.js';

const rig = createRig();
const options: FakeServerOptions = {};
let server: FakeServer;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-left-execution-'));
  options.worker = createFakeWorker();
  server = await startFakeServer(options);
});
afterEach(async () => {
  rig.removeAll();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A chain through a file and a folder, with metrics at its end. */
const STAGES = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  folders: { uses: 'folders', inputs: { text: 'strip.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  last: { uses: 'strip', inputs: { text: 'strip.text' }, params: { suffix: '!' } },
} as const;

type Extra = { readonly options?: Partial<BuildOptions>; readonly emit?: (event: BuildEvent) => void };

function build(world: World, use: Partial<RemoteUse>, { options: more = {}, emit }: Extra = {}) {
  const whole = { executor: 'remote', download: 'none', ...use } as const;
  const extra = { runtime: smallRuntime(folder), ...(emit === undefined ? {} : { emit }) };
  return rig.build(world, `grpc://127.0.0.1:${server.port}/main`, whole, { failures: 'keep-going', ...more }, extra);
}

function executions(): number {
  return server.calls.filter(name => name === 'execute').length;
}

it.each([
  ['with write', { write: true }],
  ['without write', { write: false }],
])('%s, nothing comes here but metrics, and the next machine takes what was made', async (_how, use) => {
  const world = rig.checkout(STAGES);
  const { report, outcomes, warnings } = await build(world, use);
  expect([outcomes, warnings]).toEqual([{ strip: 'executed', folders: 'executed', count: 'executed', last: 'executed' }, []]);
  expect([...report.stages.values()].map(({ outcome, artifacts }) => [(outcome as { content?: string }).content, artifacts])).toEqual(
    Array(4).fill(['left', {}]),
  );
  expect(existsSync(world.path('artifacts'))).toBe(false);
  const alone = rig.checkout(STAGES);
  const { report: own } = await alone.build();
  expect(report.stages.get('count' as never)?.metrics).toEqual(own.stages.get('count' as never)?.metrics);
  expect(own.stages.get('count' as never)?.metrics).toBeDefined();
  const other = rig.checkout(STAGES);
  const taken = await build(other, { ...use, download: 'all' });
  // Without write there is no entry of the cache; the server has the results of the actions.
  const kind = use.write ? 'restored' : 'executed';
  expect(taken.outcomes).toEqual({ strip: kind, folders: kind, count: kind, last: kind });
  expect(artifactsOf(other)).toEqual(artifactsOf(alone));
});

it('targets: the outputs of the target come, and those that it reads do not', async () => {
  const world = rig.checkout(STAGES);
  const { report, warnings } = await build(world, { download: 'targets' }, { options: { targets: ['last' as never] } });
  expect(warnings).toEqual([]);
  expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'executed', content: 'left' });
  expect(report.stages.get('last' as never)?.outcome).not.toHaveProperty('content');
  const alone = rig.checkout(STAGES);
  await alone.build();
  expect(world.read('artifacts/last/text')).toBe(alone.read('artifacts/last/text'));
  expect(existsSync(world.path('artifacts/strip'))).toBe(false);
});

it('the next build asks the server, runs nothing, and is right with any choice', async () => {
  const alone = rig.checkout(STAGES);
  await alone.build();
  for (const download of ['none', 'targets', 'all'] as const) {
    const world = rig.checkout(STAGES);
    await build(world, { write: true });
    const before = executions();
    const { report, outcomes, warnings } = await build(world, { write: true, download });
    expect([report.conclusion, new Set(Object.values(outcomes)), warnings]).toEqual(['built', new Set(['restored']), []]);
    expect(executions()).toBe(before);
    if (download !== 'none') expect(artifactsOf(world)).toEqual(artifactsOf(alone));
  }
});

it('a stage that runs here takes what it reads, once', async () => {
  const world = rig.checkout({ ...STAGES, last: { ...STAGES.last, executor: 'local' } });
  const alone = rig.checkout(STAGES);
  await alone.build();
  const { report, outcomes, warnings } = await build(world, { write: false });
  expect([outcomes.strip, outcomes.last, warnings]).toEqual(['executed', 'executed', []]);
  expect(report.stages.get('strip' as never)?.outcome).not.toHaveProperty('content');
  expect(report.stages.get('folders' as never)?.outcome).toMatchObject({ content: 'left' });
  for (const path of ['artifacts/strip/text', 'artifacts/last/text']) expect(world.read(path)).toBe(alone.read(path));
});

it('a worker that refuses the stage makes it run here, with inputs that come then', async () => {
  const world = rig.checkout(STAGES);
  const work = createFakeWorker();
  options.worker = (action, fake, signal) => {
    // The first stage runs there; the others find no worker.
    if (executions() > 1) throw { code: 3, details: 'no worker fits' };
    return work(action, fake, signal);
  };
  const alone = rig.checkout(STAGES);
  await alone.build();
  const { outcomes, warnings } = await build(world, { executor: 'auto', write: false });
  expect(new Set(Object.values(outcomes))).toEqual(new Set(['executed']));
  expect(new Set(warnings)).toEqual(new Set(['remote-execution-failed']));
  expect(world.read('artifacts/last/text')).toBe(alone.read('artifacts/last/text'));
});

it.each([
  ['a blob', 'a worker', 'remote'],
  ['a blob', 'this machine', 'local'],
  ['everything', 'a worker', 'remote'],
  ['everything', 'this machine', 'local'],
])('%s that the server has evicted makes its producer run again in the same build, for a reader on %s', async (what, _where, executor) => {
  const world = rig.checkout({ ...STAGES, last: { ...STAGES.last, executor: executor as 'remote' | 'local' } });
  const alone = rig.checkout(STAGES);
  await alone.build();
  let evicted = false;
  // The content goes between the end of the producer and the start of its readers.
  const emit = (event: BuildEvent): void => {
    if (event.kind !== 'outcome' || event.stage !== 'strip' || evicted) return;
    evicted = true;
    if (what === 'everything') server.blobs.clear();
    const text = alone.read('artifacts/strip/text');
    server.blobs.delete(`${digestBytes(text)}/${text.length}`);
  };
  const { report, outcomes } = await build(world, { write: false }, { options: { jobs: 1 }, emit });
  expect([report.conclusion, outcomes]).toEqual(['built', { strip: 'executed', folders: 'executed', count: 'executed', last: 'executed' }]);
  expect(world.read('artifacts/strip/text')).toBe(alone.read('artifacts/strip/text'));
  if (executor === 'local') expect(world.read('artifacts/last/text')).toBe(alone.read('artifacts/last/text'));
  const other = await build(rig.checkout(STAGES), { write: false, download: 'all' });
  expect(other.report.conclusion).toBe('built');
});

it('one remote slot is enough when a producer has to run again for a reader', async () => {
  const world = rig.checkout(STAGES);
  let evicted = false;
  const emit = (event: BuildEvent): void => {
    if (event.kind !== 'outcome' || event.stage !== 'strip' || evicted) return;
    evicted = true;
    server.blobs.clear();
  };
  const { report } = await build(world, { write: false, remoteJobs: 1 }, { options: { jobs: 1 }, emit });
  expect(report.conclusion).toBe('built');
});

async function statusOf(world: World): Promise<Readonly<Record<string, string>>> {
  const examined = await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
  return Object.fromEntries([...examined].map(([id, { status }]) => [id, status.kind]));
}

async function reasonsOf(world: World): Promise<readonly string[]> {
  const examined = await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
  return [...examined.values()].flatMap(({ status }) => ('reasons' in status ? status.reasons : []));
}

it('status, explain and no-op look at this machine alone: what stayed on the server counts as not built here', async () => {
  const world = rig.checkout(STAGES);
  await build(world, { write: true });
  expect(await statusOf(world)).toEqual({ strip: 'stale', folders: 'stale', count: 'stale', last: 'stale' });
  expect(new Set(await reasonsOf(world))).toEqual(new Set(['never built']));
  await build(world, { write: true, download: 'targets' }, { options: { targets: ['last' as never] } });
  expect(await statusOf(world)).toMatchObject({ strip: 'stale', last: 'undecided' });
  await build(world, { write: true, download: 'all' });
  expect(new Set(Object.values(await statusOf(world)))).toEqual(new Set(['up-to-date']));
  const calls = server.calls.length;
  // A build with nothing to do asks no server.
  expect(new Set(Object.values((await build(world, { write: true })).outcomes))).toEqual(new Set(['up-to-date']));
  expect(server.calls.length).toBe(calls);
});
