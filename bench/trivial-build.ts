/** What does a stage cost beside its program? A hundred stages that do next to nothing, with an empty cache, beside other tools. */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DIST } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import type { Peers } from './peers.js';
import { type Program, runProgram } from './run-program.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave } from './timing.js';
import { makeTrivialFolder, makeTrivialGraph, writeTrivialPipeline } from './trivial-graph.js';

const ROUNDS = 3;
const STAGES = 100;
const AIM_MS = 1_000;

export async function measureTrivialBuild(_example: Example, peers: Peers): Promise<void> {
  const graph = makeTrivialGraph(STAGES);
  const folders: { remove(): void }[] = [];
  try {
    const ways: Record<string, () => unknown> = {};
    const add = (name: string, leaves: readonly string[], write: (folder: string) => Program): void => {
      const { folder, remove } = makeTrivialFolder('cold');
      folders.push({ remove });
      const program = write(folder);
      ways[name] = () => {
        for (const left of leaves) rmSync(join(folder, left), { recursive: true, force: true });
        runProgram(program);
      };
    };
    add('tanren', ['cache', 'artifacts', 'pipeline.lock'], folder => {
      writeTrivialPipeline(folder, graph);
      const args = [join(DIST, 'bin/tanren.js'), 'build', '--jobs', String(availableParallelism())];
      return { command: process.execPath, args, cwd: folder };
    });
    for (const peer of peers.get()) add(peer.name, peer.leaves, folder => peer.write(folder, graph));
    const times = await interleave(ways, ROUNDS);
    const own = times.tanren?.median ?? Number.NaN;
    printTable(
      `${STAGES} trivial stages with an empty cache (removing it included): ms, median (quartiles) of ${ROUNDS}, in turn; aim for tanren: ${AIM_MS}`,
      [
        ['', 'ms', 'to tanren'],
        ...Object.entries(times).map(([name, samples]) => [name, formatSamples(samples), formatRatio(samples.median, own)]),
      ],
    );
  } finally {
    for (const { remove } of folders) remove();
  }
}
