/** How long does a build take that finds nothing to do? Beside Node's own start: the default pipeline, and a thousand stages that start programs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIST } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave, type Samples } from './timing.js';

const ROUNDS = 21;
const STAGES = 1000;
/** Each layer reads the one before. */
const LAYER = 50;
const TANREN = join(DIST, 'bin/tanren.js');

export async function measureNoOp(example: Example): Promise<void> {
  const { folder } = example.get().project;
  const many = makeManyStages();
  try {
    build(many, '--jobs', String(cpus().length));
    const times = await interleave(
      { node: () => run(many, '-e', '0'), default: () => buildNothing(folder), many: () => buildNothing(many) },
      ROUNDS,
    );
    printTable(`Nothing to do: node dist/bin/tanren.js build, ms, median (quartiles) of ${ROUNDS}, in turn`, [
      ['', 'ms', 'over Node', 'aim', 'ratio'],
      ["Node's start (node -e 0)", formatSamples(times.node), '', '', ''],
      rowOf('default pipeline', times.default, times.node, 60),
      rowOf(`${STAGES} command stages`, times.many, times.node, 90),
    ]);
  } finally {
    rmSync(many, { recursive: true, force: true });
  }
}

function rowOf(name: string, samples: Samples, node: Samples, aimMs: number): readonly string[] {
  const over = `+${(samples.median - node.median).toFixed(1)}`;
  return [name, formatSamples(samples), over, `+${aimMs}`, formatRatio(samples.median, node.median)];
}

function run(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}:\n${stderr}`);
  return stdout;
}

function build(cwd: string, ...args: readonly string[]): string {
  return run(cwd, TANREN, 'build', ...args);
}

/** A build that did something would be no measurement. */
function buildNothing(cwd: string): void {
  const said = build(cwd);
  if (!said.includes('nothing to do')) throw new Error(`the build was to find nothing to do; it said:\n${said}`);
}

/** Stages in layers, each joining two outputs of the layer before, and adding its own name, so that no two have the same key. */
function makeManyStages(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-many-')));
  const ids = Array.from({ length: STAGES }, (_, index) => `s${index}`);
  const stages = ids.map((id, index) => {
    const isFirst = index < LAYER;
    const row = index - (index % LAYER) - LAYER;
    const inputs = isFirst ? { left: `\${sources.text}` } : { left: `s${index - LAYER}.out`, right: `s${row + ((index + 1) % LAYER)}.out` };
    const files = isFirst ? { left: 'left' } : { left: 'left', right: 'right' };
    const script = isFirst ? `echo ${id} > out` : `echo ${id} > out; test -s left -a -s right`;
    return [id, { uses: 'command', with: { shell: 'sh', run: [script], inputs: files, outputs: { out: 'out' } }, inputs }] as const;
  });
  // JSON is YAML.
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    JSON.stringify({ version: 1, sources: { text: 'source.txt' }, stages: Object.fromEntries(stages) }, null, 1),
  );
  writeFileSync(join(folder, 'source.txt'), 'a line\n');
  return folder;
}
