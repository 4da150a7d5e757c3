/**
 * Measures time and memory of COCO evaluation, from files to metrics, on 5,000 images with 97,000 detections.
 * Compares with pycocotools if Python has it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IouType } from '../src/detection/coco/params.js';
import type { CocoMeasured } from './coco-eval-process.js';
import { type CocoSetFiles, writeCocoSet } from './coco-set.js';
import { runProgram } from './run-program.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { summarize } from './timing.js';

const ROUNDS = 3;
const PROCESS = fileURLToPath(new URL('coco-eval-process.js', import.meta.url));
const PEER = fileURLToPath(new URL('../../bench/peer_coco.py', import.meta.url));
/** May name the interpreter of a virtual environment. */
const PYTHON = process.env.TANREN_PYTHON ?? 'python3';

export async function measureCocoEval(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-coco-bench-'));
  try {
    const files = writeCocoSet(folder);
    const hasPeer = spawnSync(PYTHON, ['-c', 'import pycocotools'], { stdio: 'ignore' }).status === 0;
    if (!hasPeer) console.log(`  ${PYTHON} has no pycocotools here: it is not measured (TANREN_PYTHON names another Python)`);
    for (const type of ['bbox', 'segm'] as const) measureType(type, files, hasPeer ? 'with-peer' : 'alone');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function measureType(type: IouType, files: CocoSetFiles, peer: 'with-peer' | 'alone'): void {
  const [ours, theirs]: [CocoMeasured[], CocoMeasured[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(run(process.execPath, [PROCESS, JSON.stringify({ ...files, type })]));
    if (peer === 'with-peer') theirs.push(run(PYTHON, [PEER, files.truth, files.detections, type]));
  }
  const rows = [rowOf('tanren', ours, theirs), ...(theirs.length === 0 ? [] : [rowOf('pycocotools', theirs, theirs)])];
  const size = (statSync(files.detections).size / 1e6).toFixed(0);
  printTable(
    `COCO evaluation, ${type === 'bbox' ? 'boxes' : 'masks'}: 5,000 images, 97,000 detections (${size} MB of JSON), a process each, ms, median (quartiles) of ${ROUNDS} rounds, interleaved`,
    [['', 'read', 'evaluate', 'whole', 'speed', 'processor', 'speed', 'peak, MB', 'AP'], ...rows],
  );
}

function rowOf(name: string, measured: readonly CocoMeasured[], base: readonly CocoMeasured[]): readonly string[] {
  const of = (value: (one: CocoMeasured) => number, list = measured) => summarize(list.map(value));
  const whole = ({ readMs, evaluateMs }: CocoMeasured): number => readMs + evaluateMs;
  return [
    name,
    formatSamples(of(one => one.readMs)),
    formatSamples(of(one => one.evaluateMs)),
    formatSamples(of(whole)),
    base.length === 0 ? '' : formatRatio(of(whole, base).median, of(whole).median),
    formatSamples(of(one => one.cpuMs)),
    base.length === 0 ? '' : formatRatio(of(one => one.cpuMs, base).median, of(one => one.cpuMs).median),
    (of(one => one.peakBytes).median / 1e6).toFixed(0),
    (measured[0]?.AP ?? Number.NaN).toFixed(9),
  ];
}

function run(command: string, args: readonly string[]): CocoMeasured {
  const output = runProgram({ command, args, cwd: tmpdir() });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as CocoMeasured;
}
