/** Parts of one stage on many workers: the time beside the work itself, how busy the workers are, and the memory of the build. */
import { fileURLToPath } from 'node:url';
import { type ServerKind, startServerInProcess } from '../../test/support/remote/server-in-process.js';
import { measureProcess } from '../measured-process.js';
import { printTable } from '../table.js';

const PART_MS = 50;
const LATENCY_MS = 5;

interface Run extends ServerKind {
  readonly count: number;
  readonly bound: string;
}

const RUNS: readonly Run[] = [
  { workers: 'processes', slots: 4, count: 2_000, bound: '30 s' },
  { workers: 'simulated', slots: 100, count: 20_000, bound: '60 % busy' },
  { workers: 'simulated', slots: 100, count: 100_000, bound: '120 s beyond, 500 MB' },
];

export async function measureParts(): Promise<void> {
  const rows: string[][] = [];
  for (const run of RUNS) rows.push(await measure(run));
  printTable(`parts of ${PART_MS} ms at a latency of ${LATENCY_MS} ms`, [
    ['parts', 'slots', 's', 'work, s', 'beyond, s', 'busy, %', 'calls', 'peak, MB', 'bound'],
    ...rows,
  ]);
}

async function measure({ count, bound, ...kind }: Run): Promise<string[]> {
  const server = await startServerInProcess(kind);
  try {
    await server.setLatency(LATENCY_MS);
    const main = fileURLToPath(new URL('./parts-process.js', import.meta.url));
    const args = [main, server.address, String(count), String(PART_MS), String(kind.slots), kind.workers];
    const { output, peakBytes } = measureProcess({ command: process.execPath, args, cwd: '.' });
    const wallMs = Number.parseFloat(output);
    const { calls, busyMs } = await server.setLatency(0);
    const workMs = (count * PART_MS) / kind.slots;
    const seconds = (ms: number): string => (ms / 1000).toFixed(1);
    const busy = kind.workers === 'simulated' ? ((100 * busyMs) / (kind.slots * wallMs)).toFixed(0) : '';
    const shown = [seconds(wallMs), seconds(workMs), seconds(wallMs - workMs), busy, String(calls), (peakBytes / 1e6).toFixed(0)];
    return [String(count), String(kind.slots), ...shown, bound];
  } finally {
    server.close();
  }
}
