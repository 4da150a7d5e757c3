/** Measured results belong to the device they were measured on, and no device is started to find that nothing has changed. */
import { explainStage } from '../../../src/engine/insight/explain/explain-stages.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { givenWorld, type World } from '../../support/world.js';

const OLD = '{"name": "board", "driver": "1"}\n';
const NEW = '{"driver": "2", "name": "board"}\n';

let world: World;
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'text', board: OLD });
  const device = world.path('board');
  const trace = world.path('trace');
  world.stages = {
    latency: { uses: 'gauge', params: { device, trace, name: 'latency' }, inputs: { text: 'source.txt' } },
    accuracy: {
      uses: 'gauge',
      params: { device, trace, name: 'accuracy', failUnless: world.path('board') },
      inputs: { text: 'source.txt' },
    },
    other: { uses: 'strip', inputs: { text: 'source.txt' } },
  };
  world.write('trace', '');
});
afterEach(() => world.remove());

const starts = (): string[] =>
  world
    .read('trace')
    .split('\n')
    .filter(line => line !== '')
    .sort();
const force = (stage: string) => world.build({ targets: [stage as StageId], force: 'targets' });
const statusOf = async (stage: string) =>
  (await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports())).get(stage as StageId);

describe('a stage that measures on a device', () => {
  it('runs once, and not again without a change', async () => {
    expect((await world.build()).outcomes).toEqual({ latency: 'executed', accuracy: 'executed', other: 'executed' });
    expect((await world.build()).outcomes).toEqual({ latency: 'up-to-date', accuracy: 'up-to-date', other: 'up-to-date' });
    expect(starts()).toEqual(['accuracy', 'latency']);
  });

  it('is shown with the last reported device identity and its date', async () => {
    expect((await statusOf('latency'))?.device).toBeUndefined();
    const before = new Date().toISOString();
    await world.build();
    const device = (await statusOf('latency'))?.device;
    expect(device?.identity).toEqual({ name: 'board', driver: '1' });
    expect((device?.seen ?? '') >= before && (device?.seen ?? '') <= new Date().toISOString()).toBe(true);
    expect((await statusOf('other'))?.device).toBeUndefined();
    expect((await explainStage(await world.plan(), 'accuracy' as StageId, world.ports())).device).toEqual(device);
  });

  it('is stale when another stage finds a new driver, and the reason names the change', async () => {
    await world.build();
    world.write('board', NEW);
    expect((await world.build()).outcomes).toMatchObject({ latency: 'up-to-date', accuracy: 'up-to-date' });

    const forced = await force('latency');
    expect(forced.warnings).toEqual(['device-changed']);
    expect(await statusOf('latency')).toMatchObject({ status: { kind: 'up-to-date' } });
    expect(await statusOf('accuracy')).toMatchObject({ status: { kind: 'stale', reasons: ['device.driver: "1" → "2"'] } });

    expect((await world.build()).outcomes).toEqual({ latency: 'up-to-date', accuracy: 'executed', other: 'up-to-date' });
    expect((await world.build()).outcomes).toMatchObject({ latency: 'up-to-date', accuracy: 'up-to-date' });
    expect(starts()).toEqual(['accuracy', 'accuracy', 'latency', 'latency']);
  });

  it('keeps a result for each device: back on the old driver the old result is restored', async () => {
    await world.build();
    const old = world.read('artifacts/accuracy/text');
    world.write('board', NEW);
    await force('latency');
    await world.build();
    expect(world.read('artifacts/accuracy/text')).not.toBe(old);

    world.write('board', OLD);
    await force('latency');
    expect((await world.build()).outcomes).toMatchObject({ accuracy: 'restored' });
    expect(world.read('artifacts/accuracy/text')).toBe(old);
  });

  it('gets equal random numbers on every device', async () => {
    const seedOf = (): string | undefined => world.read('artifacts/latency/text').split(' ').at(-1);
    await world.build();
    const first = seedOf();
    world.write('board', NEW);
    await force('latency');
    expect(world.read('artifacts/latency/text')).toContain('"2"');
    expect(seedOf()).toBe(first);
  });

  it('records the device even if it fails afterwards', async () => {
    await world.build();
    world.write('board', NEW);
    const { accuracy } = world.stages;
    world.stages = { ...world.stages, accuracy: { uses: 'gauge', ...accuracy, params: { ...accuracy?.params, failUnless: '/nowhere' } } };
    expect((await world.build({ failures: 'keep-going' })).outcomes).toMatchObject({ accuracy: 'failed' });
    expect(await statusOf('latency')).toMatchObject({ status: { kind: 'stale' } });
  });

  it('is found on the same device after the state was compacted and read again', async () => {
    await world.build();
    world.write('cache/state/pipeline.log', `${world.read('cache/state/pipeline.log')}torn`);
    expect((await world.build()).outcomes).toMatchObject({ latency: 'up-to-date' });
    expect((await statusOf('latency'))?.device?.identity).toEqual({ name: 'board', driver: '1' });
  });

  it.each([
    [
      'changes its mind in one run',
      { uses: 'gauge' },
      `${OLD}${NEW}`,
      'device-changed',
      /device changed while the stage ran: driver: "1" → "2"/,
    ],
    ['never says what it is', { uses: 'gauge' }, '\n', 'device-unidentified', /without identifying the device/],
    ['says too much', { uses: 'gauge' }, `${JSON.stringify({ name: 'x'.repeat(70_000) })}\n`, 'device-unidentified', /at most 65536/],
  ])('fails where the device %s', async (_, spec, said, code, message) => {
    world.write('board', said);
    world.stages = { latency: { ...spec, params: { device: world.path('board') }, inputs: { text: 'source.txt' } } };
    const { report } = await world.build();
    expect(report.stages.get('latency' as StageId)?.outcome).toMatchObject({
      kind: 'failed',
      failure: { code, message: expect.stringMatching(message) },
    });
  });

  it('fails if it identifies a device that it does not declare', async () => {
    world.stages = { latency: { uses: 'gauge', params: { says: world.path('board') }, inputs: { text: 'source.txt' } } };
    const { report } = await world.build();
    expect(report.stages.get('latency' as StageId)?.outcome).toMatchObject({ failure: { code: 'device-undeclared' } });
  });
});
