/** Builds whose stages run on a remote worker: equal bytes, what travels and what does not, and what follows when a worker cannot run them. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { digestRuntime } from '../../../src/engine/execute/remote/promised-runtime.js';
import { openRuntimeDigests } from '../../../src/engine/execute/remote/runtime-tree.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import type { RemoteUse } from '../../../src/engine/store/remote/remote-use.js';
import type { StageSpec } from '../../support/plan-of.js';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createFakeWorker, smallRuntime } from '../../support/remote/fake-worker.js';
import { artifactsOf, createRig } from '../../support/remote/remote-rig.js';
import { until } from '../../support/until.js';
import type { World } from '../../support/world.js';

const rig = createRig();
const options: FakeServerOptions = {};
let server: FakeServer;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-execution-'));
  options.worker = createFakeWorker();
  delete options.metadata;
  server = await startFakeServer(options);
});
afterEach(async () => {
  rig.removeAll();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const address = (): string => `grpc://127.0.0.1:${server.port}/main`;

function build(
  world: World,
  use: Partial<RemoteUse> = {},
  extra: { readonly signal?: AbortSignal; readonly emit?: (event: BuildEvent) => void } = {},
) {
  const executor = 'executor' in use ? use.executor : ('remote' as const);
  return rig.build(world, address(), { ...use, executor }, { failures: 'keep-going' }, { runtime: smallRuntime(folder), ...extra });
}

function executions(): number {
  return server.calls.filter(name => name === 'execute').length;
}

const ONE: Readonly<Record<string, StageSpec>> = { strip: { uses: 'strip', inputs: { text: 'source.txt' } } };
const act = (params: StageSpec['params'], more: Partial<StageSpec> = {}): Readonly<Record<string, StageSpec>> => ({
  act: { uses: 'act', params: params ?? {}, inputs: { text: 'source.txt' }, ...more },
});

describe('a build on remote workers', () => {
  it('gives the bytes, logs and metrics of a build here, and its results serve machines that run nothing remotely', async () => {
    const here = rig.checkout();
    await here.build();
    const there = rig.checkout();
    const built = await build(there);
    expect(built.warnings).toEqual([]);
    expect(Object.values(built.outcomes)).toEqual(['executed', 'executed', 'executed', 'executed']);
    expect(executions()).toBe(4);
    expect(artifactsOf(there)).toEqual(artifactsOf(here));
    const log = there.read('cache/logs/pipeline/count.log');
    expect(log).toContain('counted 2 lines');
    expect(log).toContain('fake-worker');
    const third = rig.checkout();
    expect(Object.values((await rig.build(third, address())).outcomes)).toEqual(['restored', 'restored', 'restored', 'restored']);
    expect(artifactsOf(third)).toEqual(artifactsOf(here));
  });

  it('uploads the runtime once: a second action uploads its own inputs alone', async () => {
    const world = rig.checkout({ first: ONE.strip as StageSpec, second: { uses: 'count', inputs: { text: 'first.text' } } });
    const sent: number[] = [];
    const seen = new Set<string>();
    const count = createFakeWorker();
    options.worker = (action, fake, signal) => {
      const fresh = [...fake.blobs].filter(([name]) => !seen.has(name));
      for (const [name] of fresh) seen.add(name);
      sent.push(fresh.reduce((sum, [, bytes]) => sum + bytes.length, 0));
      return count(action, fake, signal);
    };
    await build(world, { write: false });
    expect(sent[0]).toBeGreaterThan(200_000);
    expect(sent[1]).toBeLessThan(4_000);
  });

  it('sends nothing that names this machine: no path, no variable of the caller, and no secret', async () => {
    const world = rig.checkout({
      ...ONE,
      secret: { uses: 'strip', inputs: { text: 'source.txt' }, secrets: ['TOKEN'] },
      path: { uses: 'strip', inputs: { text: 'source.txt' }, env: ['PATH'] },
    });
    world.environment = { ...world.environment, TOKEN: 'very-secret', PATH: `/made/up/folder:${process.env.PATH}` };
    const { outcomes } = await build(world, { write: false });
    expect(outcomes).toEqual({ strip: 'executed', secret: 'executed', path: 'executed' });
    expect(executions()).toBe(1);
    const texts = [...server.blobs.values()].filter(bytes => bytes.length < 20_000).map(bytes => bytes.toString('latin1'));
    for (const own of ['very-secret', '/made/up/folder', world.folder, process.env.HOME ?? '/root/'])
      expect(texts.filter(text => text.includes(own) && !text.startsWith('#!'))).toEqual([]);
  });

  it('runs from inputs that cannot be written to', async () => {
    options.worker = createFakeWorker({ inputs: 'read-only' });
    const world = rig.checkout();
    // The superuser may write anyway; then this is the usual case.
    expect(Object.values((await build(world)).outcomes)).toContain('executed');
  });

  it('has the failure of the stage, which is no result anywhere', async () => {
    const world = rig.checkout(act({ end: 'throw' }));
    const { report } = await build(world);
    expect(report.stages.get('act' as never)?.outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'stage-crashed', message: 'a slip' },
    });
    expect(server.results.size).toBe(0);
  });

  it('has a coded failure where the process of the stage is killed on the worker', async () => {
    const { report } = await build(rig.checkout(act({ end: 'kill' })));
    expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'worker-died' } });
  });
});

describe('a log', () => {
  afterEach(() => {
    delete options.logs;
  });

  it('arrives while the action runs where the server offers that, and each line once', async () => {
    options.logs = 'live';
    const goOn = join(folder, 'go-on');
    const world = rig.checkout(act({ says: 'it has begun', until: goOn }));
    // The action ends only after its line has arrived.
    const emit = (event: BuildEvent): void => {
      if (event.kind === 'log' && event.message === 'it has begun') writeFileSync(goOn, '');
    };
    const { outcomes, warnings } = await build(world, { write: false }, { emit });
    expect([outcomes, warnings]).toEqual([{ act: 'executed' }, []]);
    expect(world.read('cache/logs/pipeline/act.log').match(/it has begun/g)).toHaveLength(1);
  });
});

describe('a runtime that workers have promised', () => {
  const runtimeThere = async (digest: string): Promise<string> => {
    const place = join(folder, 'image');
    for (const { path, from, executable } of await smallRuntime(folder)({ kind: 'programs' })) {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      copyFileSync(from, join(place, path));
      chmodSync(join(place, path), executable ? 0o755 : 0o644);
    }
    writeFileSync(join(place, 'runtime.json'), JSON.stringify({ digest }));
    return place;
  };
  const ownDigest = () => digestRuntime(smallRuntime(folder), openRuntimeDigests({ root: folder }));

  it('does not travel, and the workers are asked for by the property', async () => {
    const tanren = await ownDigest();
    const place = await runtimeThere(tanren);
    const work = createFakeWorker({ environment: { TANREN_RUNTIME: place, PATH: process.env.PATH ?? '' } });
    const asked: unknown[] = [];
    options.worker = (action, fake, signal) => {
      asked.push(action.platform?.properties);
      return work(action, fake, signal);
    };
    const world = rig.checkout(act({}, { properties: { tanren } }));
    const { outcomes, warnings } = await build(world, { write: false });
    expect([outcomes, warnings, asked]).toEqual([{ act: 'executed' }, [], [[{ name: 'tanren', value: tanren }]]]);
    expect(world.read('artifacts/act/text')).toBe('one\ntwo');
    expect([...server.blobs.values()].reduce((sum, bytes) => sum + bytes.length, 0)).toBeLessThan(40_000);
  });

  it('of another version is refused before anything is sent, or by the worker whose image has it', async () => {
    const world = rig.checkout(act({}, { properties: { tanren: 'a'.repeat(64) } }));
    const { report } = await build(world, { write: false });
    expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-runtime' } });
    expect(executions()).toBe(0);
    const tanren = await ownDigest();
    const place = await runtimeThere('b'.repeat(64));
    options.worker = createFakeWorker({ environment: { TANREN_RUNTIME: place, PATH: process.env.PATH ?? '' } });
    const { report: refused } = await build(rig.checkout(act({}, { properties: { tanren } })), { write: false });
    expect(refused.stages.get('act' as never)?.outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'remote-runtime', message: expect.stringContaining('bbbb') },
    });
  });
});

describe('a worker that', () => {
  it('lacks inputs gets those that it names again', async () => {
    const whole = createFakeWorker();
    let lost = 3;
    options.worker = async (action, fake, signal) => {
      if (lost-- > 0) for (const [name, bytes] of fake.blobs) if (bytes.toString() === 'one\ntwo') fake.blobs.delete(name);
      return whole(action, fake, signal);
    };
    const { outcomes, warnings } = await build(rig.checkout(ONE));
    expect([outcomes, warnings]).toEqual([{ strip: 'executed' }, []]);
    expect(executions()).toBe(4);
  });

  it.each([
    [
      'has no runtime',
      { prepare: (root: string) => rmSync(join(root, 'runtime'), { recursive: true }) },
      'remote-runtime',
      /exit code 127/,
    ],
    [
      'has a damaged runtime',
      { prepare: (root: string) => rmSync(join(root, 'runtime/dist/workers/any-plugin.cjs')) },
      'remote-runtime',
      /no worker .*any-plugin/,
    ],
    ['has a damaged document', { prepare: (root: string) => rmSync(join(root, 'execution.json')) }, 'remote-runtime', /cannot be read/],
  ])('%s is one line under auto, and a failure under remote', async (_what, habits, code, message) => {
    options.worker = createFakeWorker(habits);
    const world = rig.checkout();
    const { report } = await build(world);
    expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code } });
    expect(JSON.stringify(report.stages.get('strip' as never)?.outcome)).toMatch(message);
    const falling = await build(world, { executor: 'auto' });
    expect(Object.values(falling.outcomes)).toEqual(['executed', 'executed', 'executed', 'executed']);
    expect(falling.warnings).toEqual(['remote-execution-failed']);
  });

  it('cannot compute its platform class refuses the action, and nothing of it is kept', async () => {
    const world = rig.checkout({ model: { uses: 'model', inputs: { text: 'source.txt' } } });
    const { report } = await build(world);
    const failure = { code: 'remote-class', message: expect.stringMatching(/platform class of this worker cannot be computed/) };
    expect(report.stages.get('model' as never)?.outcome).toMatchObject({ kind: 'failed', failure });
    expect(server.results.size).toBe(0);
    expect((await build(world, { executor: 'auto' })).outcomes).toEqual({ model: 'executed' });
  });

  it('loses the content of its result runs the action again', async () => {
    const whole = createFakeWorker();
    let runs = 0;
    options.worker = async (action, fake, signal) => {
      const end = await whole(action, fake, signal);
      if (runs++ === 0) for (const [name, bytes] of fake.blobs) if (bytes.toString() === 'ONE\nTWO') fake.blobs.delete(name);
      return end;
    };
    const world = rig.checkout(ONE);
    expect((await build(world)).outcomes).toEqual({ strip: 'executed' });
    expect(runs).toBe(2);
    expect(world.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });

  it('gives an output that the action does not declare gives no result', async () => {
    const whole = createFakeWorker();
    options.worker = async (action, fake, signal) => {
      const end = await whole(action, fake, signal);
      if (!('result' in end)) return end;
      return { result: { ...end.result, outputFiles: (end.result.outputFiles ?? []).map(file => ({ ...file, path: '../../outside' })) } };
    };
    const { report } = await build(rig.checkout(ONE));
    expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  });

  it('takes longer than the timeout of the stage ends it with the code of a timeout', async () => {
    options.worker = async () => ({ status: { code: status.DEADLINE_EXCEEDED, message: 'too long', details: [] } });
    const { report } = await build(rig.checkout(act({}, { timeoutMs: 5_000 })));
    expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'timeout' } });
  });
});

describe('a server', () => {
  it('without workers is one line under auto, and a failure under remote', async () => {
    delete options.worker;
    const world = rig.checkout();
    const falling = await build(world, { executor: 'auto' });
    expect([Object.values(falling.outcomes), falling.warnings]).toEqual([
      ['executed', 'executed', 'executed', 'executed'],
      ['remote-execution-failed'],
    ]);
    const { report } = await build(rig.checkout({ strip: { uses: 'strip', params: { other: 1 }, inputs: { text: 'source.txt' } } }));
    expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  });

  it.each([
    ['the only slot', { jobs: 1 }, {}],
    ['a pool of which they take all units', { jobs: 4 }, { resources: { license: 1 } }],
  ])('without workers leaves stages to run here that wait for no other run, in %s', async (_what, jobs, more) => {
    delete options.worker;
    const spec = (text: string): StageSpec => ({ uses: 'strip', params: { of: text }, inputs: { text }, ...more });
    const world = rig.checkout({ first: spec('source.txt'), second: spec('first.text'), third: spec('second.text') });
    // The first stage finds out that there are no workers; the others know it when they start.
    const { outcomes } = await rig.build(world, address(), { executor: 'auto' }, jobs, { runtime: smallRuntime(folder) });
    expect(outcomes).toEqual({ first: 'executed', second: 'executed', third: 'executed' });
  });

  it('that sends metadata which are no message fails the stage, and not the build', async () => {
    options.metadata = Buffer.from([0xff, 0xff, 0xff]);
    const { report } = await build(rig.checkout(ONE));
    const failure = { code: 'remote-execution', message: expect.stringMatching(/a message cannot be read/) };
    expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure });
    expect((await build(rig.checkout(ONE), { executor: 'auto' })).outcomes).toEqual({ strip: 'executed' });
  });

  it('is asked to cancel what runs when the build is interrupted', async () => {
    const stop = new AbortController();
    const begun: string[] = [];
    options.worker = (_action, _server, signal) =>
      new Promise((_, reject) => {
        begun.push('begun');
        stop.abort();
        signal.addEventListener('abort', () => reject({ code: status.CANCELLED, details: 'cancelled' }));
      });
    const { outcomes } = await build(rig.checkout(ONE), {}, { signal: stop.signal });
    expect(outcomes).toEqual({ strip: 'cancelled' });
    expect(begun).toEqual(['begun']);
    expect(server.calls).toContain('cancel');
  });
});

describe('a stage', () => {
  it('runs where it says, whatever the build asks for', async () => {
    const spec = (executor: StageSpec['executor']): StageSpec => ({
      uses: 'strip',
      params: { of: executor ?? '' },
      inputs: { text: 'source.txt' },
      executor,
    });
    const world = rig.checkout({ here: spec('local'), there: spec('remote'), either: spec('auto'), usual: spec(undefined) });
    await build(world, { executor: 'remote' });
    expect(executions()).toBe(3);
    const other = rig.checkout({ here: spec('local'), there: spec('remote'), either: spec('auto'), usual: spec(undefined) });
    await build(other, { executor: undefined, read: false });
    expect(executions()).toBe(5);
  });

  it('that must run remotely fails in a build without a server', async () => {
    const world = rig.checkout({ strip: { uses: 'strip', inputs: { text: 'source.txt' }, executor: 'remote' } });
    const { report } = await world.build({}, { runtime: smallRuntime(folder) });
    expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  });

  it('that no worker could run has its whole timeout here', async () => {
    const [trace, end] = [join(folder, 'trace'), join(folder, 'end')];
    options.worker = async () => {
      // The time of the first worker and that of the run here are together longer than the timeout.
      if (executions() === 1) await wait(1_700);
      return { result: { exitCode: 127 } };
    };
    const started = until(() => existsSync(trace))
      .then(() => wait(900))
      .then(() => writeFileSync(end, ''));
    const { outcomes } = await build(rig.checkout(act({ trace, until: end }, { timeoutMs: 2_500 })), { executor: 'auto' });
    await started;
    expect([outcomes, executions()]).toEqual([{ act: 'executed' }, 2]);
  });

  it('that measures leaves this machine only for a worker that it names by properties, and its result is not looked up', async () => {
    const world = rig.checkout({
      here: { uses: 'measure', inputs: { text: 'source.txt' } },
      board: { uses: 'measure', inputs: { text: 'source.txt' }, properties: { npu: 'xdna2' } },
    });
    const { outcomes } = await build(world);
    expect([outcomes, executions(), server.results.size]).toEqual([{ here: 'executed', board: 'executed' }, 1, 0]);
  });

  it.each([
    ['secrets', { secrets: ['TOKEN'] }, /it receives secrets/],
    ['a variable of this machine', { env: ['PATH'] }, /it reads PATH of this machine/],
  ] as const)('on a board with %s fails, because a measurement here would count as that of the board', async (_what, more, message) => {
    const world = rig.checkout({ board: { uses: 'measure', inputs: { text: 'source.txt' }, properties: { npu: 'xdna2' }, ...more } });
    world.environment = { ...world.environment, TOKEN: 'very-secret', PATH: process.env.PATH ?? '' };
    for (const executor of ['remote', 'auto', undefined] as const) {
      const { report } = await build(world, { executor });
      const failure = { code: 'remote-execution', message: expect.stringMatching(message) };
      expect(report.stages.get('board' as never)?.outcome).toMatchObject({ kind: 'failed', failure });
    }
    expect(executions()).toBe(0);
  });

  it('on a board fails where nothing can travel, and one that must run remotely does so too', async () => {
    const world = rig.checkout({
      board: { uses: 'measure', inputs: { text: 'source.txt' }, properties: { npu: 'xdna2' } },
      strip: { uses: 'strip', inputs: { text: 'source.txt' } },
    });
    const { report } = await rig.build(world, address(), { executor: 'remote' }, { failures: 'keep-going' });
    for (const id of ['board', 'strip'])
      expect(report.stages.get(id as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
    expect((await rig.build(world, address(), { executor: 'auto' }, { failures: 'keep-going' })).outcomes).toMatchObject({
      strip: 'executed',
    });
  });
});

describe('parts of a stage that spreads them', () => {
  const spread = (params: StageSpec['params']): Readonly<Record<string, StageSpec>> => ({
    spread: { uses: 'spread', params: params ?? {}, inputs: { text: 'source.txt' } },
  });

  it('run on the workers, several in one action, and give the bytes of this machine', async () => {
    const here = rig.checkout(spread({ count: 40 }));
    await here.build();
    const there = rig.checkout(spread({ count: 40 }));
    const { outcomes, warnings } = await build(there, { write: false, read: false, remoteJobs: 2 });
    expect([outcomes, warnings]).toEqual([{ spread: 'executed' }, []]);
    expect(artifactsOf(there)).toEqual(artifactsOf(here));
    expect(executions()).toBeGreaterThan(1);
    expect(executions()).toBeLessThan(20);
    expect(there.read('cache/logs/pipeline/spread.log')).toContain(
      'part waiting: 0 kept from earlier runs, 40 computed, 40 of them on remote workers',
    );
  });

  it('run on a worker of the class of this machine, also if only they run models', async () => {
    const world = rig.checkout(spread({ count: 4, part: 'waiting-model' }));
    const { report } = await build(world, { write: false, read: false });
    // The class of the test is a text, and the worker computes its own.
    expect(report.stages.get('spread' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-class' } });
    const falling = await build(world, { write: false, read: false, executor: 'auto' });
    expect([falling.outcomes, falling.warnings]).toEqual([{ spread: 'executed' }, ['remote-execution-failed']]);
  });

  it('are kept: a changed stage asks only for those that it lacks', async () => {
    const world = rig.checkout(spread({ count: 10 }));
    await build(world, { write: false, read: false });
    const before = executions();
    world.stages = spread({ count: 10, other: 1 });
    expect((await build(world, { write: false, read: false })).outcomes).toEqual({ spread: 'executed' });
    expect(executions()).toBe(before);
  });

  it('are read here verified: a damaged blob of the cache is taken again', async () => {
    const here = rig.checkout(spread({ count: 4 }));
    await here.build();
    const there = rig.checkout(spread({ count: 4 }));
    await build(there, { write: false, read: false });
    const blobs = readdirSync(there.path('cache/cas'), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    const ofParts = blobs.map(({ parentPath, name }) => join(parentPath, name)).filter(path => /^\d ONE/.test(readFileSync(path, 'utf8')));
    expect(ofParts.length).toBeGreaterThanOrEqual(4);
    for (const path of ofParts) {
      const text = readFileSync(path, 'utf8');
      chmodSync(path, 0o600);
      writeFileSync(path, text.replace('ONE', 'TEN'));
    }
    // Without their records, the parts are computed again.
    rmSync(there.path('cache/actions'), { recursive: true });
    there.stages = spread({ count: 4, other: 1 });
    expect((await build(there, { write: false, read: false })).outcomes).toEqual({ spread: 'executed' });
    expect(artifactsOf(there)).toEqual(artifactsOf(here));
  });

  it('that fail there are computed here, and the stage has their failure', async () => {
    const { report } = await build(rig.checkout(spread({ count: 10, fails: 7 })));
    expect(report.stages.get('spread' as never)?.outcome).toMatchObject({
      kind: 'failed',
      failure: { code: 'stage-crashed', message: 'part 7 fails' },
    });
  });

  it.each([
    ['auto', 'executed', ['remote-execution-failed']],
    ['remote', 'failed', []],
  ] as const)('without workers: %s', async (executor, outcome, expected) => {
    delete options.worker;
    const { outcomes, warnings } = await build(rig.checkout(spread({ count: 10 })), { executor });
    expect([outcomes, warnings]).toEqual([{ spread: outcome }, expected]);
  });

  it.each([
    ['there are no workers', 0],
    ['the workers are lost in the middle', 1],
  ])('use the slots of this machine if %s', async (_what, most) => {
    const worker = createFakeWorker();
    let actions = 0;
    options.worker = async (...action) =>
      ++actions > most ? { status: { code: status.INTERNAL, message: 'lost', details: [] } } : worker(...action);
    const pids = join(folder, 'pids');
    const world = rig.checkout(spread({ count: 100, ms: 40, pids }));
    const use = { executor: 'auto', read: false, write: false, remoteJobs: 1 } as const;
    const { outcomes, warnings } = await rig.build(world, address(), use, { jobs: 3 }, { runtime: smallRuntime(folder) });
    expect([outcomes, warnings]).toEqual([{ spread: 'executed' }, ['remote-execution-failed']]);
    expect(world.read('artifacts/spread/text')).toBe(Array.from({ length: 100 }, (_, index) => `${index} ONE\nTWO!`).join('\n'));
    const byProcess = readFileSync(pids, 'utf8').trimEnd().split('\n');
    expect(byProcess).toHaveLength(100);
    // A process per action on the fake workers; here, the stage's own and those of the lent slots.
    expect(new Set(byProcess).size).toBeGreaterThan(most + 1);
  });

  it('need a server where the stage must run remotely', async () => {
    const world = rig.checkout({ spread: { ...(spread({ count: 3 }).spread as StageSpec), executor: 'remote' } });
    const { report } = await world.build({}, { runtime: smallRuntime(folder) });
    expect(report.stages.get('spread' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  });

  it('whose actions fail count as one trouble, and other stages still run on the workers', async () => {
    const prepare = (root: string): void => {
      if (existsSync(join(root, 'parts.json'))) rmSync(join(root, 'execution.json'));
    };
    options.worker = createFakeWorker({ prepare });
    const world = rig.checkout({ ...spread({ count: 10 }), after: { uses: 'strip', inputs: { text: 'spread.text' } } });
    const { outcomes, warnings } = await build(world, { executor: 'auto' });
    expect([outcomes, warnings]).toEqual([{ spread: 'executed', after: 'executed' }, ['remote-execution-failed']]);
    expect(world.read('cache/logs/pipeline/after.log')).toContain('fake-worker');
  });

  it('whose results are damaged are one warning under auto, and a failure under remote', async () => {
    const worker = createFakeWorker();
    options.worker = async (action, fake, signal) => {
      const end = await worker(action, fake, signal);
      return 'result' in end ? { result: { ...end.result, outputDirectories: [] } } : end;
    };
    const { report } = await build(rig.checkout(spread({ count: 10 })));
    const failure = { code: 'remote-execution', message: expect.stringMatching(/no results\.json for \d+ parts/) };
    expect(report.stages.get('spread' as never)?.outcome).toMatchObject({ kind: 'failed', failure });
    const falling = await build(rig.checkout(spread({ count: 10 })), { executor: 'auto' });
    expect([falling.outcomes, falling.warnings]).toEqual([{ spread: 'executed' }, ['remote-execution-failed']]);
  });

  it('are asked for one after the other in a build with one slot and without workers', async () => {
    const trace = join(folder, 'trace');
    await rig.checkout(spread({ trace })).build({ jobs: 1 });
    expect(readFileSync(trace, 'utf8')).toBe('1\n');
  });
});
