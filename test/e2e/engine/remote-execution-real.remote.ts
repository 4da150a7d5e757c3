/** Trouble on a worker that others wrote: a killed process or server, a full disk, another platform class. Nothing of it becomes a result. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StageSpec } from '../../support/plan-of.js';
import { smallRuntime } from '../../support/remote/fake-worker.js';
import { describeWithServer, missing, type RealServer, startWorker } from '../../support/remote/real-servers.js';
import { createRig } from '../../support/remote/remote-rig.js';
import { until } from '../../support/until.js';
import type { World } from '../../support/world.js';

const rig = createRig();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-real-'));
});
afterEach(() => {
  rig.removeAll();
  rmSync(folder, { recursive: true, force: true });
});

const act = (params: StageSpec['params']): Readonly<Record<string, StageSpec>> => ({
  act: { uses: 'act', params: params ?? {}, inputs: { text: 'source.txt' } },
});

function build(world: World, server: RealServer, executor: 'auto' | 'remote') {
  const use = { executor, read: true, write: true } as const;
  return rig.build(world, `grpc://127.0.0.1:${server.ports[0]}`, use, { failures: 'keep-going' }, { runtime: smallRuntime(folder) });
}

/** The process of the action itself, which started the one with this number. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describeWithServer(missing.worker)("Bazel's remote worker", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startWorker();
  });
  afterAll(() => server?.stop());

  it('whose action is killed in its middle runs it again, and the result is right', async () => {
    const [pid, goOn] = [join(folder, 'pid'), join(folder, 'go-on')];
    const world = rig.checkout(act({ pid, until: goOn }));
    const building = build(world, server, 'remote');
    // The file is there before its first line.
    await until(() => existsSync(pid) && readFileSync(pid, 'utf8').includes('\n'));
    const [first] = readFileSync(pid, 'utf8').split('\n');
    process.kill(parentOf(Number(first)), 'SIGKILL');
    await until(() => readFileSync(pid, 'utf8').trim().split('\n').length === 2);
    writeFileSync(goOn, '');
    const { outcomes, warnings } = await building;
    expect([outcomes, warnings]).toEqual([{ act: 'executed' }, []]);
    expect(world.read('artifacts/act/text')).toBe('one\ntwo');
  });

  it.each([
    ['auto', { act: 'executed' }],
    ['remote', { act: 'failed' }],
  ] as const)('of another platform class refuses the action under %s, and nothing of it is kept', async (executor, expected) => {
    const stages = { act: { uses: 'model', inputs: { text: 'source.txt' } } };
    const world = rig.checkout(stages);
    world.platformClass = `none ${executor}`;
    const { outcomes, report } = await build(world, server, executor);
    expect(outcomes).toEqual(expected);
    if (executor === 'remote')
      expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-class' } });
    // The refusal is no result of the action on the server: asked again, it refuses again.
    const again = rig.checkout(stages);
    again.platformClass = `none ${executor}`;
    expect((await build(again, server, executor)).outcomes).toEqual(executor === 'auto' ? { act: 'restored' } : expected);
  });
});

/** A file system of some MB, where the system allows mounts. */
function mountSmall(path: string): boolean {
  mkdirSync(path);
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', path], { stdio: 'ignore' }).status === 0;
}

const mayMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' }).status === 0;

describeWithServer(missing.worker ?? (mayMount ? undefined : 'a system that allows mounts'))("Bazel's remote worker on a full disk", () => {
  let server: RealServer | undefined;
  let disk: string;
  beforeEach(async () => {
    disk = join(folder, 'disk');
    if (!mountSmall(disk)) throw new Error('the disk cannot be mounted');
    server = await startWorker(disk);
  });
  afterEach(async () => {
    await server?.stop();
    spawnSync('umount', ['-l', disk]);
  });

  it.each([
    ['auto', { act: 'executed' }],
    ['remote', { act: 'failed' }],
  ] as const)('gives the right result, or one coded failure, under %s', async (executor, expected) => {
    const size = 64 << 20;
    const world = rig.checkout(act({ fill: size }));
    const { outcomes, report, warnings } = await build(world, server as RealServer, executor);
    expect(outcomes).toEqual(expected);
    if (executor === 'auto') {
      // The server may have no room for the result either.
      expect(warnings).toContain('remote-execution-failed');
      expect(world.read('artifacts/act/text')).toHaveLength(size);
    } else {
      expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-disk' } });
      expect(existsSync(world.path('artifacts/act'))).toBe(false);
    }
  });
});

describeWithServer(missing.worker)('a server that is killed in the middle of an action', () => {
  it.each([
    ['auto', { act: 'executed' }],
    ['remote', { act: 'failed' }],
  ] as const)('leaves the right result, or one coded failure, under %s', async (executor, expected) => {
    const server = await startWorker();
    const [trace, goOn] = [join(folder, 'trace'), join(folder, 'go-on')];
    const world = rig.checkout(act({ trace, until: goOn }));
    const building = build(world, server, executor);
    await until(() => existsSync(trace));
    await server.stop();
    writeFileSync(goOn, '');
    const { outcomes, report, warnings } = await building;
    expect(outcomes).toEqual(expected);
    if (executor === 'auto') expect(new Set(warnings)).toEqual(new Set(['remote-execution-failed', 'remote-cache-failed']));
    else expect(report.stages.get('act' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-execution' } });
  });
});
