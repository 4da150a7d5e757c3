/** Builds that leave results in the remote cache: only what a run here reads, or what is asked for, is downloaded. */
import { existsSync, rmSync } from 'node:fs';
import { artifactsOf, givenServer } from '../../support/remote/remote-rig.js';
import type { World } from '../../support/world.js';

/** Content of folders and files that are large enough to be told from records. */
const STAGES = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  folders: { uses: 'folders', inputs: { text: 'strip.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  last: { uses: 'strip', inputs: { text: 'strip.text' }, params: { suffix: '' } },
};

const { rig, server, address } = givenServer();
const machine = (): World => rig.checkout(STAGES);

async function warm(): Promise<World> {
  const world = machine();
  await rig.build(world, address());
  return world;
}

it('a warm build downloads nothing, states every result and gate, and publishes nothing', async () => {
  await warm();
  const world = machine();
  world.stages = { ...STAGES, count: { ...STAGES.count, gate: [] } };
  const { report, outcomes, warnings } = await rig.build(world, address(), { download: 'none' });
  expect(outcomes).toEqual({ strip: 'restored', folders: 'restored', count: 'restored', last: 'restored' });
  expect([...report.stages.values()].map(({ outcome, artifacts }) => [outcome, artifacts])).toEqual(
    Array(4).fill([{ kind: 'restored', sizeBytes: 0, from: 'remote', content: 'left' }, {}]),
  );
  expect(report.stages.get('count' as never)?.metrics).toBeDefined();
  expect([existsSync(world.path('artifacts')), warnings]).toEqual([false, []]);
  expect(report.remote).toMatchObject({ hits: 4, misses: 0, troubles: [] });
});

it('the targets are downloaded and nothing else', async () => {
  const first = await warm();
  const world = machine();
  const { outcomes, report } = await rig.build(world, address(), { download: 'targets' }, { targets: ['count' as never] });
  expect(outcomes).toEqual({ strip: 'restored', count: 'restored' });
  expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ content: 'left' });
  const all = artifactsOf(first);
  expect(artifactsOf(world)).toEqual(
    Object.fromEntries(Object.entries(all).filter(([path]) => path.startsWith('/artifacts/count/') || path === '/artifacts/.gitignore')),
  );
});

it('what a stage reads that runs here is downloaded before, once', async () => {
  await warm();
  const world = machine();
  world.stages = {
    ...STAGES,
    last: { ...STAGES.last, params: { suffix: '!' } },
    more: { uses: 'count', inputs: { text: 'strip.text' }, params: { other: 1 } },
  };
  const alone = rig.checkout(world.stages);
  await alone.build();
  const { outcomes, report, warnings } = await rig.build(world, address(), { download: 'none', write: false });
  expect(outcomes).toEqual({ strip: 'restored', folders: 'restored', count: 'restored', last: 'executed', more: 'executed' });
  expect(report.stages.get('strip' as never)?.outcome).not.toHaveProperty('content');
  expect(report.stages.get('folders' as never)?.outcome).toMatchObject({ content: 'left' });
  expect(existsSync(world.path('artifacts/folders'))).toBe(false);
  const found = artifactsOf(world);
  const expected = artifactsOf(alone);
  for (const [path, text] of Object.entries(found)) expect([path, text]).toEqual([path, expected[path]]);
  expect(warnings).toEqual([]);
});

it('the next build, with any choice or without the remote cache, is right', async () => {
  const first = await warm();
  for (const use of [{ download: 'none' }, { download: 'all' }, undefined] as const) {
    const world = machine();
    await rig.build(world, address(), { download: 'none' });
    const { report, warnings } = use === undefined ? await world.build() : await rig.build(world, address(), use);
    expect([report.conclusion, warnings]).toEqual(['built', []]);
    if (use?.download !== 'none') expect(artifactsOf(world)).toEqual(artifactsOf(first));
  }
});

it('a stage that has published something gets its new result, so that artifacts are of one build', async () => {
  const world = await warm();
  const other = machine();
  other.write('source.txt', 'three\nfour');
  await rig.build(other, address());
  world.write('source.txt', 'three\nfour');
  await rig.build(world, address(), { download: 'none' });
  expect(artifactsOf(world)).toEqual(artifactsOf(other));
});

it.each(['blobs', 'server'])('a result whose %s are gone when a stage reads it is made again in the same build', async what => {
  await warm();
  const world = machine();
  world.stages = { ...STAGES, last: { ...STAGES.last, params: { suffix: '!' } } };
  const alone = rig.checkout(world.stages);
  await alone.build();
  // The stage asks its inputs' content after everything was found.
  const emit = (event: { readonly kind: string; readonly stage?: unknown }): void => {
    if (event.kind !== 'outcome' || event.stage !== 'strip') return;
    if (what === 'blobs') server().blobs.clear();
    else server().results.clear();
    if (what === 'server') for (const key of [...server().blobs.keys()]) server().blobs.delete(key);
  };
  const { outcomes, report, warnings } = await rig.build(world, address(), { download: 'none', write: false }, { jobs: 1 }, { emit });
  expect(report.conclusion).toBe('built');
  expect(outcomes).toMatchObject({ strip: 'executed', last: 'executed' });
  expect(new Set(warnings)).toEqual(new Set(['remote-cache-failed']));
  expect(world.read('artifacts/last/text')).toBe(alone.read('artifacts/last/text'));
});

it('a result that is lost and cannot be made again fails, and what reads it is skipped', async () => {
  await warm();
  const world = machine();
  world.stages = { ...STAGES, last: { ...STAGES.last, params: { suffix: '!' } } };
  const emit = (event: { readonly kind: string; readonly stage?: unknown }): void => {
    if (event.kind !== 'outcome' || event.stage !== 'strip') return;
    server().blobs.clear();
    rmSync(world.path('source.txt'), { force: true });
  };
  const { report, outcomes } = await rig.build(world, address(), { download: 'none', write: false }, { failures: 'keep-going' }, { emit });
  expect(report.conclusion).toBe('failed');
  expect(outcomes).toMatchObject({ strip: 'failed', last: 'skipped' });
});
