/** 5,000 kept parts of a stage up and down at a latency of 50 ms, beside a bare client that moves as many bytes. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes, digestJson } from '../../src/base/digest.js';
import { encodePartList } from '../../src/engine/store/part-list.js';
import { startServerInProcess } from '../../test/support/remote/server-in-process.js';
import { printTable } from '../table.js';
import { timeMs } from '../timing.js';
import { openBareClient } from './bare-client.js';
import { connect, newStores, openResults } from './throughput.js';

const PARTS = 5_000;
const PART_BYTES = 10_000;
const LATENCY_MS = 50;

export async function measurePackedParts(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-bench-parts-'));
  const server = await startServerInProcess();
  try {
    const here = newStores(join(folder, 'here'));
    const keys: string[] = [];
    for (let number = 0; number < PARTS; number++) {
      const manifest = { format: 1, part: 'sketch', number };
      const { digest, sizeBytes = 0 } = await here.store.storeBytes(randomBytes(PART_BYTES), 'no-flush');
      const outputs = { sketch: { kind: 'file', digest, sizeBytes, executable: false } as const };
      await here.records.add(digestJson(manifest), manifest, { outputs, metrics: undefined, log: undefined, durationMs: 1 });
      keys.push(digestJson(manifest));
    }
    const parts = await here.store.storeBytes(encodePartList(keys), 'no-flush');
    await server.setLatency(LATENCY_MS);
    const moved = await measureBare(folder, server.port);

    const sending = await connect(server);
    const up = openResults(here, sending);
    const upMs = await timeMs(async () => {
      up.offer(
        'stage',
        digestJson({ plugin: 'p' }),
        { plugin: 'p' },
        { outputs: {}, metrics: undefined, log: undefined, parts, durationMs: 1 },
      );
      await up.finish(new AbortController().signal);
    });
    const taking = await connect(server);
    const down = openResults(newStores(join(folder, 'there')), taking);
    const downMs = await timeMs(async () => {
      // One after the other, as a stage asks.
      for (const key of keys) if (!(await down.bringPart('stage', 'p', key))) throw new Error('a part did not come');
    });
    const seconds = (ms: number): string => (ms / 1000).toFixed(2);
    printTable(`${PARTS} parts of ${PART_BYTES / 1000} kB at ${LATENCY_MS} ms (bound: 300 calls, 5 s beyond the transfer)`, [
      ['', 's', 'calls', 'as many bytes in one blob by a bare client, s', 'beyond, s'],
      ['up', seconds(upMs), String(sending.traffic.calls), seconds(moved.upMs), seconds(upMs - moved.upMs)],
      ['down', seconds(downMs), String(taking.traffic.calls), seconds(moved.downMs), seconds(downMs - moved.downMs)],
    ]);
    sending.close();
    taking.close();
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureBare(folder: string, port: number): Promise<{ readonly upMs: number; readonly downMs: number }> {
  const bytes = randomBytes(PARTS * PART_BYTES);
  const [path, hash] = [join(folder, 'whole'), digestBytes(bytes)];
  writeFileSync(path, bytes);
  const bare = openBareClient(port);
  const upMs = await timeMs(() => bare.upload(path, hash, bytes.length));
  const downMs = await timeMs(() => bare.download(`${path}.back`, hash, bytes.length));
  bare.close();
  return { upMs, downMs };
}
