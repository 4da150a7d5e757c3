/** The lock of a cache has at most one holder, and is never without one for long while somebody waits. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLock } from '../../../src/engine/store/lock/lock.js';
import { DIST } from '../../support/world.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const never = new AbortController().signal;

describe('the lock', () => {
  it('is free after each release, and leaves one file', async () => {
    for (let round = 0; round < 5; round++) {
      const lock = await acquireLock(join(folder, 'lock'), { signal: never, onWaiting: () => undefined });
      await lock.release();
    }
    expect(readdirSync(join(folder, 'lock'))).toEqual(['held.5']);
  });

  it('makes a second holder wait until the first releases it', async () => {
    const order: string[] = [];
    const first = await acquireLock(folder, { signal: never, onWaiting: () => undefined });
    const second = acquireLock(folder, {
      signal: never,
      onWaiting() {
        order.push('waiting');
        first.release().then(() => order.push('released'));
      },
    });
    await (await second).release();

    expect(order).toEqual(['waiting', 'released']);
  });

  it('can be cancelled while waiting', async () => {
    const abort = new AbortController();
    const first = await acquireLock(folder, { signal: never, onWaiting: () => undefined });
    const second = acquireLock(folder, { signal: abort.signal, onWaiting: () => abort.abort(new Error('enough')) });

    await expect(second).rejects.toThrow('enough');
    await first.release();
  });

  it('works in a folder whose path is longer than a socket address, and leaves nothing elsewhere where there is /proc', async () => {
    const long = join(folder, 'x'.repeat(120), 'y'.repeat(120));
    const linksToIt = (): readonly string[] =>
      readdirSync(tmpdir(), { withFileTypes: true }).flatMap(entry =>
        entry.isSymbolicLink() && readlinkSync(join(tmpdir(), entry.name)) === long ? [entry.name] : [],
      );
    const first = await acquireLock(long, { signal: never, onWaiting: () => undefined });
    let waited = false;
    const second = acquireLock(long, {
      signal: never,
      onWaiting() {
        waited = true;
        // A process that is killed while it waits would leave the link.
        if (existsSync('/proc/self/fd')) expect(linksToIt()).toEqual([]);
        void first.release();
      },
    });
    await (await second).release();
    expect(waited).toBe(true);
  });

  it('has one holder at a time among ten processes, some of which are killed while they hold it', async () => {
    const log = join(folder, 'log');
    writeFileSync(log, '');
    const ends = Array.from({ length: 10 }, (_, index) => contend(join(folder, 'lock'), log, index % 3 === 0 ? 'die' : 'release'));
    await Promise.all(ends);

    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(20);
    for (let i = 0; i < lines.length; i += 2) expect(lines[i + 1]).toBe(lines[i]?.replace('in', 'out'));
  });
});

/** A process that takes the lock, writes "in", then "out", and releases or is killed. */
function contend(lock: string, log: string, end: 'release' | 'die'): Promise<void> {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { acquireLock } from ${JSON.stringify(join(DIST, 'src/engine/store/lock/lock.js'))};
    const held = await acquireLock(${JSON.stringify(lock)}, { signal: new AbortController().signal, onWaiting: () => undefined });
    appendFileSync(${JSON.stringify(log)}, 'in ' + process.pid + '\\n');
    await new Promise(resolve => setTimeout(resolve, 15));
    appendFileSync(${JSON.stringify(log)}, 'out ' + process.pid + '\\n');
    if (${JSON.stringify(end)} === 'die') process.kill(process.pid, 'SIGKILL');
    await held.release();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  return new Promise(resolve => child.on('close', () => resolve()));
}
