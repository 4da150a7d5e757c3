/**
 * Measures builds that find nothing to do.
 * Compares with the start of Node, and with other tools on the same graph of stages that start programs.
 */
import { renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DIST } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import type { Peer, Peers } from './peers.js';
import { runProgram } from './run-program.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave, type Samples } from './timing.js';
import { makeTrivialFolder, makeTrivialGraph, type TrivialGraph, writeTrivialPipeline } from './trivial-graph.js';

const ROUNDS = 21;
const TANREN = join(DIST, 'bin/tanren.js');

export async function measureNoOp(example: Example, peers: Peers): Promise<void> {
  const { folder } = example.get().project;
  await measure('the default pipeline', { tanren: () => buildNothing(folder) }, 60);
  await measureSmallGraphs(peers);
}

/** Targets are in ms above the start of Node. */
export async function measureSmallGraphs(peers: Peers): Promise<void> {
  await measureGraph(makeTrivialGraph(100), 5, peers);
  await measureGraph(makeTrivialGraph(1_000), 30, peers);
}

/** The first build takes several minutes. */
export async function measureLargeNoOp(_example: Example, peers: Peers): Promise<void> {
  await measureGraph(makeTrivialGraph(10_000), 100, peers);
}

async function measureGraph(graph: TrivialGraph, aimMs: number, peers: Peers): Promise<void> {
  const own = makeTrivialFolder('no-op');
  const others: { remove(): void }[] = [];
  try {
    writeTrivialPipeline(own.folder, graph);
    build(own.folder, '--jobs', String(availableParallelism()));
    const ways: Record<string, () => unknown> = {
      tanren: () => buildNothing(own.folder),
      'tanren, without its no-op record': () => withoutRecord(own.folder),
    };
    for (const peer of peers.get().filter(({ most }) => graph.stages.length <= most)) {
      const { folder, remove } = makeTrivialFolder('no-op');
      others.push({ remove });
      ways[peer.name] = prepare(peer, folder, graph);
    }
    await measure(`${graph.stages.length} stages that start programs`, ways, aimMs);
  } finally {
    for (const { remove } of [own, ...others]) remove();
  }
}

/** Builds once. @returns a function that builds again, and checks that there was nothing to do. */
function prepare(peer: Peer, folder: string, graph: TrivialGraph): () => void {
  const program = peer.write(folder, graph);
  runProgram(program);
  return () => {
    const said = runProgram(program);
    if (!said.includes(peer.nothing(graph))) throw new Error(`${peer.name} was to find nothing to do; it said:\n${said}`);
  };
}

async function measure(what: string, ways: Readonly<Record<string, () => unknown>>, aimMs: number): Promise<void> {
  const times: Readonly<Record<string, Samples>> = await interleave<string>(
    { node: () => runProgram({ command: process.execPath, args: ['-e', '0'], cwd: '.' }), ...ways },
    ROUNDS,
  );
  const { node, tanren } = times;
  if (node === undefined || tanren === undefined) throw new Error('both are measured always');
  printTable(`Nothing to do, ${what}: ms, median (quartiles) of ${ROUNDS}, interleaved`, [
    ['', 'ms', 'over Node', 'aim', 'to tanren'],
    ["Node's start (node -e 0)", formatSamples(node), '', '', formatRatio(node.median, tanren.median)],
    ...Object.keys(ways).map(name => rowOf(name, times[name] ?? node, { node, tanren }, name === 'tanren' ? aimMs : undefined)),
  ]);
}

function rowOf(
  name: string,
  samples: Samples,
  { node, tanren }: Readonly<Record<'node' | 'tanren', Samples>>,
  aimMs?: number,
): readonly string[] {
  const over = samples.median - node.median;
  const signed = `${over < 0 ? '−' : '+'}${Math.abs(over).toFixed(1)}`;
  return [name, formatSamples(samples), signed, aimMs === undefined ? '' : `+${aimMs}`, formatRatio(samples.median, tanren.median)];
}

function build(cwd: string, ...args: readonly string[]): string {
  return runProgram({ command: process.execPath, args: [TANREN, 'build', ...args], cwd });
}

/** Fails if the build did something, because the measurement would be invalid. */
function buildNothing(cwd: string): void {
  const said = build(cwd);
  if (!said.includes('nothing to do')) throw new Error(`the build was to find nothing to do; it said:\n${said}`);
}

/** A build without the no-op record, as if the record no longer held although nothing is out of date. */
function withoutRecord(cwd: string): void {
  const record = join(cwd, 'cache/state/pipeline.no-op');
  renameSync(record, `${record}.aside`);
  try {
    buildNothing(cwd);
  } finally {
    renameSync(`${record}.aside`, record);
  }
}
