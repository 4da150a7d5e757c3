/**
 * Measures a full-size detector from its checkpoint to int8, its heads on tiles and its bundle, and the comparison of both forms of the heads: time and peak memory of each stage.
 * Runs pipelines/maskrcnn-coco.yaml with generated weights and two generated images.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { COCO_PATHS, COCO_PIPELINE, makeCocoProject } from '../test/support/coco-project.js';
import { DIST } from '../test/support/shapes-project.js';
import { FULL_SIZE, V2 } from './full-size-backbone.js';
import { runProgram } from './run-program.js';
import { printTable } from './table.js';

const IMAGES = 2;
const SIZES = [FULL_SIZE, { height: 800, width: 1344 }] as const;

interface HistoryStage {
  readonly stage: string;
  readonly durationMs: number;
  readonly peakBytes?: number;
}

export async function measureFullSizePipeline(): Promise<void> {
  for (const { height, width } of SIZES) {
    const folder = await makeCocoProject(V2, IMAGES);
    try {
      const tanren = (...args: readonly string[]): string =>
        runProgram({ command: process.execPath, args: [join(DIST, 'bin/tanren.js'), ...args, '-f', COCO_PIPELINE], cwd: folder });
      const params = [`height=${height}`, `width=${width}`, `calibrationSamples=${IMAGES}`].flatMap(param => ['-p', param]);
      tanren('build', 'compile', 'verify-tiles', '--jobs', '1', ...COCO_PATHS, ...params);
      const { runs } = JSON.parse(tanren('history', '--json')) as {
        readonly runs: readonly { readonly stages: readonly HistoryStage[] }[];
      };
      print(`${height}×${width}`, runs[0]?.stages ?? []);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function print(size: string, stages: readonly HistoryStage[]): void {
  const peak = (bytes: number | undefined): string => (bytes === undefined ? '' : (bytes / 1e9).toFixed(2));
  printTable(`maskrcnn_resnet50_fpn_v2 at ${size}, generated weights, ${IMAGES} images, one stage at a time, once`, [
    ['stage', 's', 'peak, GB'],
    ...stages.map(({ stage, durationMs, peakBytes }) => [stage, (durationMs / 1000).toFixed(1), peak(peakBytes)]),
    [
      'all',
      (stages.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(1),
      peak(Math.max(...stages.map(({ peakBytes = 0 }) => peakBytes))),
    ],
  ]);
}
