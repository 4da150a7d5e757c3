/** Measures how long Python tools take to simplify the same models, interleaved with ours. Tools that python3 lacks are listed. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProblems } from '../src/onnx/check/check-model.js';
import type { Model } from '../src/onnx/ir/model.js';
import { scopesOf } from '../src/onnx/ir/scope.js';
import { simplifyToFixedPoint } from '../src/onnx/passes/simplify.js';
import { readModel } from '../src/onnx/serde/model-file.js';
import { evaluate } from '../src/runtime/session/evaluate.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { summarize } from './timing.js';

const ROUNDS = 5;
const PYTHON = process.env.TANREN_PYTHON ?? 'python3';
const SCRIPT = fileURLToPath(new URL('../../bench/peer_simplify.py', import.meta.url));
const PEERS = ['onnxslim', 'onnxsim', 'onnxruntime'] as const;

interface Run {
  readonly seconds: number;
  readonly nodes: number;
  /** Number of nodes in the subgraphs. */
  readonly inner: number;
}

/** Measures the simplification of each file with Tanren and with the tools that Python has. */
export async function measureSimplifiers(paths: readonly string[]): Promise<void> {
  const isThere = (peer: string): boolean => spawnSync(PYTHON, ['-c', `import onnx, ${peer}`], { stdio: 'ignore' }).status === 0;
  const peers = PEERS.filter(isThere);
  const missing = PEERS.filter(peer => !peers.includes(peer));
  if (missing.length > 0) console.log(`  ${PYTHON} has no ${missing.join(', no ')} with onnx here: not measured`);
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  try {
    for (const path of paths) await measureOne(path, peers, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureOne(path: string, peers: readonly string[], folder: string): Promise<void> {
  const runs = new Map<string, Run[]>(['tanren', ...peers].map(name => [name, []]));
  let failure = '';
  await runOurs(path);
  for (let round = 0; round < ROUNDS; round++) {
    runs.get('tanren')?.push(await runOurs(path));
    for (const peer of peers) {
      const run = runPeer(peer, path, join(folder, `${peer}.onnx`));
      if (typeof run === 'string') failure = `${peer}: ${run}`;
      else runs.get(peer)?.push(run);
    }
  }
  const ours = summarize((runs.get('tanren') ?? []).map(({ seconds }) => 1000 * seconds));
  const rows = [...runs].flatMap(([name, done]) => {
    const [first] = done;
    if (first === undefined) return [];
    const times = summarize(done.map(({ seconds }) => 1000 * seconds));
    return [[name, formatSamples(times), formatRatio(times.median, ours.median), `${first.nodes}`, `${first.inner}`]];
  });
  printTable(
    `simplify of ${basename(path)}: ms, median (quartiles) of ${ROUNDS}, interleaved, without reading the file (onnxruntime reads it)`,
    [['', 'ms', 'of ours', 'nodes', 'in sub-graphs'], ...rows],
  );
  if (failure !== '') console.log(`  ${failure}`);
}

/** Runs in this process, warmed up: the start is not counted, and the time of the Python tools excludes their imports too. */
async function runOurs(path: string): Promise<Run> {
  const model = await readModel(path);
  const start = performance.now();
  await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: findProblems });
  const seconds = (performance.now() - start) / 1000;
  const [nodes, inner] = countNodes(model);
  return { seconds, nodes, inner };
}

function countNodes(model: Model): readonly [number, number] {
  const [main = 0, ...inner] = [...scopesOf(model)].map(({ graph }) => graph.nodes.size);
  return [main, inner.reduce((sum, count) => sum + count, 0)];
}

function runPeer(peer: string, path: string, out: string): Run | string {
  const { status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT, peer, path, out], { encoding: 'utf8' });
  return status === 0 ? (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Run) : (stderr.trim().split('\n').at(-1) ?? 'it failed');
}
