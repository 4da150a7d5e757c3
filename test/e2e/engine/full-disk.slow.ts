/** Builds on a full disk and on one that turns read-only: a file system of one megabyte, where this machine can mount one. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

let world: World;
let mounted: string;
beforeEach(() => {
  world = givenWorld(
    { act: { uses: 'act', inputs: { text: 'source.txt' } }, count: { uses: 'count', inputs: { text: 'act.text' } } },
    { 'source.txt': 'x\n'.repeat(500_000) },
  );
  mounted = world.path('small');
  mkdirSync(mounted);
  mount('-t', 'tmpfs', '-o', 'size=900k', 'tmpfs', mounted);
});
afterEach(() => {
  spawnSync('umount', [mounted]);
  world.remove();
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
if (!canMount) process.stderr.write('SKIPPED: full-disk tests need the right to mount a file system\n');

(canMount ? describe : describe.skip)('a cache on a small disk', () => {
  it('fails the stage that does not fit with one error code, leaves no file, and succeeds with smaller input', async () => {
    const options = { cacheFolder: `${mounted}/cache` };
    const failed = await world.build(options);
    expect(failed.report.stages.get('act' as StageId)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'disk-full' } });
    expect(readdirSync(`${mounted}/cache/tmp`)).toEqual([]);

    world.write('source.txt', 'one\ntwo');
    expect((await world.build(options)).outcomes).toEqual({ act: 'executed', count: 'executed' });
    expect((await world.build(options)).outcomes).toEqual({ act: 'up-to-date', count: 'up-to-date' });
  });

  it('fails a stage whose parts do not fit, also those of part processes, and keeps the parts that did', async () => {
    const options = { cacheFolder: `${mounted}/cache`, jobs: 3 };
    world.write('source.txt', 'x'.repeat(20_000));
    const spread = { uses: 'spread', params: { count: 80, ms: 40 }, inputs: { text: 'source.txt' } };
    world.stages = { spread };
    const failed = await world.build(options);
    expect(failed.report.stages.get('spread' as StageId)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'disk-full' } });
    expect(readdirSync(`${mounted}/cache/tmp`)).toEqual([]);

    mount('-o', 'remount,size=9m', mounted);
    const { outcomes, events } = await world.build(options);
    expect(outcomes).toEqual({ spread: 'executed' });
    expect(world.read('artifacts/spread/text')).toBe(
      Array.from({ length: 80 }, (_, index) => `${index} ${'X'.repeat(20_000)}!`).join('\n'),
    );
    const logs = events.flatMap(event => (event.kind === 'log' ? [event.message] : []));
    expect(logs.join('\n')).toMatch(/part waiting: [1-9]\d* kept from earlier runs/);
  });

  it('that becomes read-only restores known results, runs other stages, and prints a warning', async () => {
    const options = { cacheFolder: `${mounted}/cache` };
    world.write('source.txt', 'one\ntwo');
    await world.build(options);
    world.write('source.txt', 'one\ntwo\nthree');
    mount('-o', 'remount,ro', mounted);
    const { report, warnings } = await world.build(options);

    expect(report.conclusion).toBe('built');
    expect(world.read('artifacts/count/text')).toBe('3\n');
    expect(warnings).toContain('cache-write-failed');
  });
});

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount: ${stderr}`);
}
