/** Measures the overhead of a stage: trivial stages with an empty cache, in memory and on disk, compared with other tools. */
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DIST } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import { type FileSystem, findFileSystems } from './file-systems.js';
import { measureProcess } from './measured-process.js';
import type { Peers } from './peers.js';
import { type Program, runProgram } from './run-program.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave } from './timing.js';
import { makeTrivialFolder, makeTrivialGraph, writeManyPorts, writeTrivialPipeline } from './trivial-graph.js';

type Aims = Readonly<Record<FileSystem['name'], number>>;

/** 100 and 1,000 stages, and one stage with 10,000 ports. */
export async function measureTrivialBuild(_example: Example, peers: Peers): Promise<void> {
  await measureCounts([100, 1_000], peers, { 100: { tmpfs: 800, disk: 1_200 }, 1000: { tmpfs: 5_000, disk: 8_000 } }, 3);
  await measureManyPorts();
}

/** 10,000 stages; takes several minutes. */
export async function measureLargeTrivialBuild(_example: Example, peers: Peers): Promise<void> {
  await measureCounts([1_000, 10_000], peers, {}, 1);
}

async function measureCounts(counts: readonly number[], peers: Peers, aims: Readonly<Record<number, Aims>>, rounds: number): Promise<void> {
  for (const fileSystem of findFileSystems())
    for (const count of counts) await measureGraph(count, fileSystem, peers, aims[count]?.[fileSystem.name], rounds);
}

async function measureGraph(
  count: number,
  { name: where, folder: parent }: FileSystem,
  peers: Peers,
  aimMs: number | undefined,
  rounds: number,
) {
  const graph = makeTrivialGraph(count);
  const folders: { remove(): void }[] = [];
  let peakBytes = 0;
  try {
    const ways: Record<string, () => unknown> = {};
    const add = (name: string, leaves: readonly string[], write: (folder: string) => Program, run: (program: Program) => unknown): void => {
      const { folder, remove } = makeTrivialFolder('cold', parent);
      folders.push({ remove });
      const program = write(folder);
      ways[name] = () => {
        for (const left of leaves) rmSync(join(folder, left), { recursive: true, force: true });
        run(program);
      };
    };
    const write = (folder: string): Program => {
      writeTrivialPipeline(folder, graph);
      return buildIn(folder);
    };
    add('tanren', TANREN_LEAVES, write, program => {
      peakBytes = Math.max(peakBytes, measureProcess(program).peakBytes);
    });
    for (const peer of peers.get().filter(({ most }) => count <= most))
      add(peer.name, peer.leaves, folder => peer.write(folder, graph), runProgram);
    const times = await interleave(ways, rounds);
    const own = times.tanren?.median ?? Number.NaN;
    const aim = aimMs === undefined ? '' : `; aim for tanren: ${aimMs}`;
    printTable(
      `${count} trivial stages with an empty cache on ${where} (removing it included): ms, median (quartiles) of ${rounds}, interleaved${aim}`,
      [
        ['', 'ms', 'to tanren'],
        ...Object.entries(times).map(([name, samples]) => [name, formatSamples(samples), formatRatio(samples.median, own)]),
        ["tanren's peak", `${Math.round(peakBytes / 1e6)} MB`, ''],
      ],
    );
  } finally {
    for (const { remove } of folders) remove();
  }
}

const TANREN_LEAVES = ['cache', 'artifacts', 'pipeline.lock'];
const PORTS = 10_000;
const PORTS_AIM_MS = 5_000;

async function measureManyPorts(): Promise<void> {
  for (const { name, folder: parent } of findFileSystems()) {
    const { folder, remove } = makeTrivialFolder('ports', parent);
    try {
      writeManyPorts(folder, PORTS);
      const build = (): void => {
        for (const left of TANREN_LEAVES) rmSync(join(folder, left), { recursive: true, force: true });
        runProgram(buildIn(folder));
      };
      const { tanren } = await interleave({ tanren: build }, 3);
      printTable(`One stage with ${PORTS} ports, an empty cache, on ${name}: ms, median (quartiles) of 3; target: ${PORTS_AIM_MS}`, [
        ['', 'ms'],
        ['tanren', formatSamples(tanren)],
      ]);
    } finally {
      remove();
    }
  }
}

function buildIn(cwd: string): Program {
  return { command: process.execPath, args: [join(DIST, 'bin/tanren.js'), 'build', '--jobs', String(availableParallelism())], cwd };
}
