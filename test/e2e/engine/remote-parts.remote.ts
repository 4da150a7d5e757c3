/** Many parts on remote workers: how long they take beside the work itself, and how busy the workers are. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createFakeWorker, smallRuntime } from '../../support/remote/fake-worker.js';
import { createRig } from '../../support/remote/remote-rig.js';
import { startServerInProcess } from '../../support/remote/server-in-process.js';

const rig = createRig();
const options: FakeServerOptions = {};
let server: FakeServer;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-throughput-'));
  server = await startFakeServer(options);
});
afterEach(async () => {
  rig.removeAll();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function buildParts(count: number, ms: number, remoteJobs: number, address = `grpc://127.0.0.1:${server.port}`) {
  const world = rig.checkout({ spread: { uses: 'spread', params: { count, ms }, inputs: { text: 'source.txt' } } });
  const use = { executor: 'remote', read: false, write: false, remoteJobs } as const;
  const startedMs = performance.now();
  const { outcomes, warnings } = await rig.build(world, address, use, {}, { runtime: smallRuntime(folder) });
  const tookMs = performance.now() - startedMs;
  expect([outcomes, warnings]).toEqual([{ spread: 'executed' }, []]);
  return { tookMs, text: world.read('artifacts/spread/text'), actions: server.calls.filter(name => name === 'execute').length };
}

/** Processor time of a round of work like a part's: JSON, a digest, and at times the event loop. In ms, the mean of 20,000. */
async function measureRound(): Promise<number> {
  const before = process.cpuUsage();
  let text = '';
  for (let index = 0; index < 20_000; index++) {
    const json = JSON.stringify({ index, text, list: Array.from({ length: 200 }, (_, place) => String(place * index)) });
    text = createHash('sha256').update(json).digest('hex');
    JSON.parse(json);
    if (index % 10 === 0) await setImmediate();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / 20_000;
}

function report(what: string, figures: Readonly<Record<string, number>>): void {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(1)}`);
  process.stdout.write(`${what}: ${shown.join(', ')}\n`);
}

it('2,000 parts on 4 slots are a few actions worth their trip, and every result has its place', async () => {
  options.worker = createFakeWorker();
  const { tookMs, text, actions } = await buildParts(2_000, 50, 4);
  report('2,000 parts of 50 ms on 4 slots', { seconds: tookMs / 1000, actions });
  expect(text).toBe(Array.from({ length: 2_000 }, (_, index) => `${index} ONE\nTWO!`).join('\n'));
  // 120 parts are 6 s: 17 actions, those whose size is found first, and the smaller ones of the end.
  expect(actions).toBeLessThan(60);
});

it('20,000 parts keep 100 slots busy, take little processor time each, and every result has its place', async () => {
  const server = await startServerInProcess({ workers: 'simulated', slots: 100 });
  await server.setLatency(5);
  const roundMs = Math.min(await measureRound(), await measureRound(), await measureRound());
  const before = process.cpuUsage();
  const { tookMs, text } = await buildParts(20_000, 50, 100, server.address);
  const { user, system } = process.cpuUsage(before);
  const { busyMs, mostBusy } = await server.setLatency(0);
  server.close();
  const msPerPart = (user + system) / 1000 / 20_000;
  report('20,000 parts of 50 ms on 100 slots', {
    seconds: tookMs / 1000,
    busyPercent: busyMs / tookMs,
    mostBusy,
    msPerPart,
    rounds: msPerPart / roundMs,
  });
  expect(text).toBe(Array.from({ length: 20_000 }, (_, index) => String(index)).join('\n'));
  expect(mostBusy).toBeGreaterThan(50);
  // 100,000 parts may take 120 s beside their work, 1.2 ms each, where a round takes 0.12 ms: processors differ by half, also with what else they run.
  expect(msPerPart / roundMs).toBeLessThan(10);
  expect(msPerPart).toBeLessThan(2.5);
});
