/** Parts of one stage on many simulated workers: the time beside the work itself, and the memory of the build. */
import { fileURLToPath } from 'node:url';
import { measureProcess } from '../measured-process.js';
import { printTable } from '../table.js';
import { startBenchServer } from './bench-server.js';

const PARTS = 100_000;
const PART_MS = 50;
const SLOTS = 100;
const LATENCY_MS = 5;

/** @param count parts; the bound is for 100,000. */
export async function measurePartsScale(count = PARTS): Promise<void> {
  const server = await startBenchServer({ slots: SLOTS });
  try {
    await server.setLatency(LATENCY_MS);
    const process = fileURLToPath(new URL('./parts-process.js', import.meta.url));
    const args = [process, server.address, String(count), String(PART_MS), String(SLOTS)];
    const { wallMs, peakBytes } = measureProcess({ command: globalThis.process.execPath, args, cwd: '.' });
    const calls = await server.setLatency(0);
    const workMs = (count * PART_MS) / SLOTS;
    printTable(`${count} parts of ${PART_MS} ms on ${SLOTS} slots at ${LATENCY_MS} ms (bounds: 120 s beyond the work, 500 MB)`, [
      ['s', 'work, s', 'beyond, s', 'calls', 'peak, MB'],
      [wallMs, workMs, wallMs - workMs].map(ms => (ms / 1000).toFixed(1)).concat(String(calls), (peakBytes / 1e6).toFixed(0)),
    ]);
  } finally {
    server.close();
  }
}
