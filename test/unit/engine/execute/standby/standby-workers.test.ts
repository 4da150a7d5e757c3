/** Standby workers: each becomes one worker, with the environment, folder and arguments of one that is started then, and is never used again. */
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStandbyWorkers, type StandbyWorkers } from '../../../../../src/engine/execute/standby/standby-workers.js';
import { DIST } from '../../../../support/shapes-project.js';

/** A bundle: its process says what it is. Like modules of ONNX Runtime sessions, it sets a variable for itself when it is loaded. */
const BUNDLE = `
let prepared = 0;
exports.prepare = async () => { prepared++; process.env.OF_A_MODULE = 'set'; };
exports.start = async () => process.send({
  pid: process.pid, prepared, env: { ...process.env }, cwd: process.cwd(), argv: process.argv.slice(1), execArgv: process.execArgv,
}, () => process.exit(0));`;

let folder: string;
let workers: StandbyWorkers;
let installed: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-standby-')));
  for (const name of ['one.cjs', 'other.cjs']) writeFileSync(join(folder, name), BUNDLE);
  installed = '1.0.0';
  workers = open(2);
});
afterEach(() => {
  workers.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(count: number, first: readonly string[] = []): StandbyWorkers {
  return openStandbyWorkers({
    installRoot: DIST,
    environment: { PATH: '/usr/bin', HOME: '/root', SECRET: 'of the shell' },
    flags: ['--single-threaded'],
    installed: () => installed,
    count,
    refillAfterMs: 0,
    first,
  });
}

const order = (bundle = 'one.cjs') => ({ main: join(folder, bundle), folder, scratch: folder, env: { PATH: '/bin', TMPDIR: folder } });

/** The first one that is ready. */
async function begin(bundle?: string) {
  for (let tries = 0; tries < 500; tries++) {
    const child = workers.begin(order(bundle));
    if (child !== undefined) return child;
    await wait(20);
  }
  throw new Error('no standby worker became ready');
}

describe('standby workers', () => {
  it('are not started before a build has asked for one', async () => {
    workers.refillLater();
    await wait(300);
    expect(workers.begin(order())).toBeUndefined();
  });

  it('become workers with exactly the given environment, arguments and folder', async () => {
    workers.begin(order());
    workers.refillLater();
    const child = await begin();
    expect(await once(child, 'message')).toEqual([{ kind: 'standby-begun' }, undefined]);
    const [said] = (await once(child, 'message')) as [Record<string, unknown>];
    expect(said).toEqual({
      pid: child.pid,
      prepared: 1,
      env: { ...order().env, OF_A_MODULE: 'set' },
      cwd: folder,
      argv: [order().main, folder],
      execArgv: ['--single-threaded'],
    });
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('run the plugin that they have loaded, and no other', async () => {
    workers.begin(order());
    workers.refillLater();
    await wait(500);
    expect(workers.begin(order('other.cjs'))).toBeUndefined();
    await once(await begin('one.cjs'), 'exit');
  });

  it('are those that the last build asked for, as often as it did', async () => {
    for (const bundle of ['one.cjs', 'other.cjs', 'other.cjs']) workers.begin(order(bundle));
    workers.refillLater();
    for (const bundle of ['one.cjs', 'other.cjs']) await once(await begin(bundle), 'exit');
    for (const bundle of ['one.cjs', 'other.cjs']) expect(workers.begin(order(bundle))).toBeUndefined();
  });

  it('are used once', async () => {
    workers.begin(order());
    workers.refillLater();
    const first = await begin();
    expect(workers.begin(order())).toBeUndefined();
    await once(first, 'exit');
    workers.refillLater();
    const second = await begin();
    expect(second.pid).not.toBe(first.pid);
    await once(second, 'exit');
  });

  it('are ended where something else than they have loaded is installed since', async () => {
    workers.begin(order());
    workers.refillLater();
    await once(await begin(), 'exit');
    workers.refillLater();
    await wait(500);
    installed = '1.0.1';
    expect(workers.begin(order())).toBeUndefined();
    workers.refillLater();
    const child = await begin();
    await once(child, 'message');
    await once(child, 'exit');
  });

  it('are started at once for named bundles, at most as many as are kept, and tell which were asked for', async () => {
    workers.close();
    workers = open(1, [join(folder, 'one.cjs'), join(folder, 'other.cjs')]);
    const child = await begin();
    await once(child, 'exit');
    await wait(300);
    expect(workers.begin(order('other.cjs'))).toBeUndefined();
    const asked = workers.asked();
    expect([asked.at(0), asked.at(-1)]).toEqual([join(folder, 'one.cjs'), join(folder, 'other.cjs')]);
  });

  it('that were begun outlive the end of those that wait', async () => {
    workers.begin(order());
    workers.refillLater();
    const child = await begin();
    workers.close();
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    workers.refillLater();
    await wait(300);
    expect(workers.begin(order())).toBeUndefined();
  });
});
