/**
 * Measures repeated runs of `quantize` after a parameter changed, compared with a full recalibration.
 * The stage runs on a full-size backbone. Process start is not included.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../src/base/json.js';
import { calibrate } from '../stages/calibrate/stage.js';
import { quantize } from '../stages/quantize/stage.js';
import { runStage } from '../test/support/run-stage.js';
import { storingMemo } from '../test/support/storing-memo.js';
import { FULL_SIZE } from './full-size-backbone.js';
import { makeFullSizeProject } from './full-size-project.js';
import { measurePeer } from './peer.js';
import { formatSamples, printTable } from './table.js';
import { interleave, type Samples } from './timing.js';

const SAMPLES = 2;
const ROUNDS = 5;
const AIM_MS = 300;

const CHANGES: Readonly<Record<string, JsonObject>> = {
  'u8s8, min-max': { preset: 'u8s8' },
  'u8s8, one node excluded': { preset: 'u8s8', exclude: ['backbone/body/conv1'] },
  'u8s8, percentile 99.99': { preset: 'u8s8', range: { kind: 'percentile', percentile: 99.99, sides: 'magnitude' } },
  'u8s8, percentile 99.9': { preset: 'u8s8', range: { kind: 'percentile', percentile: 99.9, sides: 'each' } },
  'u8s8, entropy': { preset: 'u8s8', range: { kind: 'entropy', levels: 128 } },
  'u8s8, mse': { preset: 'u8s8', range: { kind: 'mse', candidates: 100 } },
  a8w8: { preset: 'a8w8' },
  'xint8 (power of two, MinMSE)': { preset: 'xint8' },
};

export async function measureRequantize(): Promise<void> {
  const project = await makeFullSizeProject(SAMPLES);
  const { model, recipe, annotations, images } = project.files;
  try {
    const calibrated = await runStage(calibrate, {
      folder: project.folder,
      params: { part: 'backbone' },
      inputs: { model, recipe, data: { annotations, images } },
    });
    const sketches = join(project.folder, 'sketches.json');
    await writeFile(sketches, await readFile(calibrated.outputs.sketches ?? ''));
    // As in a build, the model is one that an earlier run has seen.
    const { memo } = storingMemo({ path: project.folder });
    const ways = Object.fromEntries(
      Object.entries(CHANGES).map(([name, params]) => [
        name,
        () => runStage(quantize, { folder: project.folder, params, inputs: { model, sketches }, memo }),
      ]),
    );
    const times = await interleave(ways, ROUNDS);
    const rowOf = ([name, samples]: readonly [string, Samples]): readonly string[] => [
      name,
      formatSamples(samples),
      samples.median < AIM_MS ? 'kept' : 'MISSED',
    ];
    printTable(
      `quantize of maskrcnn_resnet50_fpn_v2's backbone at ${FULL_SIZE.height}×${FULL_SIZE.width} after a change: ms, median (quartiles) of ${ROUNDS}, interleaved`,
      [['', 'ms', `aim ${AIM_MS} ms`], ...Object.entries(times).map(rowOf)],
    );
    await measurePeer(model, project.folder);
  } finally {
    await project.remove();
  }
}
