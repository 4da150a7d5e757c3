/**
 * Measures speed and memory of the ONNX library, each operation in a separate process.
 * The models are a full-size detector and an exported graph of 2,243 nodes.
 */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeModel } from '../src/onnx/serde/model-file.js';
import { findSharedFolder } from '../test/support/shared-folder.js';
import { makeFullSizeDetector } from './full-size-backbone.js';
import { measureSimplifiers } from './onnx-peers.js';
import type { OnnxMeasured, OnnxOrder, OnnxWay } from './onnx-process.js';
import { formatSamples, printTable } from './table.js';
import { summarize } from './timing.js';

const ROUNDS = 5;
const EXPORTED = fileURLToPath(new URL('../../examples/shapes/models/maskrcnn-shapes-torchvision.onnx', import.meta.url));
const PROCESS = fileURLToPath(new URL('./onnx-process.js', import.meta.url));

const TITLES: Readonly<Record<OnnxWay, string>> = {
  read: 'read',
  copy: 'read and write',
  infer: 'infer types and shapes',
  check: 'check',
  simplify: 'simplify to the fixed point',
};

export async function measureOnnx(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  try {
    const path = join(folder, 'detector.onnx');
    await writeModel(path, makeFullSizeDetector());
    await measureModel("maskrcnn_resnet50_fpn_v2's parts with generated weights", path, ['read', 'copy', 'infer', 'check'], folder);
    await measureModel("torchvision's export of the example's detector", EXPORTED, ['read', 'infer', 'check', 'simplify'], folder);
    await measureSimplifiers([EXPORTED, ...findPicoDet()]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureModel(name: string, path: string, ways: readonly OnnxWay[], folder: string): Promise<void> {
  const measured = new Map<OnnxWay, OnnxMeasured[]>(ways.map(way => [way, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const way of ways) measured.get(way)?.push(await inProcess({ way, path, copy: join(folder, 'copy.onnx') }));
  const { size } = await stat(path);
  printTable(`${name}, ${(size / 1e6).toFixed(1)} MB: ms and peak over an idle process, median (quartiles) of ${ROUNDS}, interleaved`, [
    ['', 'ms', 'MB', 'of the file'],
    ...ways.map(way => {
      const runs = measured.get(way) ?? [];
      const held = summarize(runs.map(run => run.peakBytes - run.idleBytes));
      return [
        TITLES[way],
        formatSamples(summarize(runs.map(run => run.ms))),
        (held.median / 1e6).toFixed(0),
        (held.median / size).toFixed(2),
      ];
    }),
  ]);
}

function inProcess(order: OnnxOrder): Promise<OnnxMeasured> {
  return new Promise((resolve, reject) => {
    const child = fork(PROCESS, [JSON.stringify(order)]);
    child.once('message', message => resolve(message as OnnxMeasured));
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`the measured process ended with ${code}`)));
  });
}

/** The public model that published tools were measured on, if the shared folder is available. */
function findPicoDet(): readonly string[] {
  const path = join(findSharedFolder() ?? '', 'models/picodet/picodet_s_320_coco.onnx');
  return existsSync(path) ? [path] : [];
}
