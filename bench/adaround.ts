/** Measures AdaRound of a full-size backbone at 192×256 with 16 images, in a process of its own with V8's flags of a worker. */
import { fork } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORKER_FLAGS } from '../src/engine/execute/run/worker-run.js';
import { writeModel } from '../src/onnx/serde/model-file.js';
import { calibrate } from '../stages/calibrate/stage.js';
import { capture } from '../stages/capture/stage.js';
import { quantize } from '../stages/quantize/stage.js';
import { makeJpeg } from '../test/support/make-jpeg.js';
import { runStage, temporaryFolder } from '../test/support/run-stage.js';
import type { AdaRoundMeasured, AdaRoundOrder } from './adaround-process.js';
import { exportFullSize } from './full-size-backbone.js';
import { printTable } from './table.js';

const SIZE = { height: 192, width: 256 } as const;
const SAMPLES = 16;
const [AIM_S, AIM_MB] = [120, 1000];

export async function measureAdaRound(): Promise<void> {
  const folder = await temporaryFolder('bench-adaround');
  try {
    const measured = await inProcess(await prepare(folder.path));
    const { rounded, layers } = JSON.parse(await readFile(measured.report, 'utf8')) as { rounded: number; layers: readonly unknown[] };
    const [seconds, megabytes] = [measured.ms / 1000, measured.peakBytes / 1e6];
    printTable(
      `AdaRound of maskrcnn_resnet50_fpn_v2's backbone at ${SIZE.height}×${SIZE.width}, ${SAMPLES} images, ${rounded} of ${layers.length} layers rounded; one run`,
      [
        ['', '', 'aim'],
        ['s', seconds.toFixed(0), `${AIM_S}: ${seconds <= AIM_S ? 'kept' : 'MISSED'}`],
        ['processor s of all threads', (measured.cpuMs / 1000).toFixed(0), ''],
        ['peak, MB', megabytes.toFixed(0), `${AIM_MB}: ${megabytes <= AIM_MB ? 'kept' : 'MISSED'}`],
      ],
    );
  } finally {
    await folder.remove();
  }
}

/** The quantized backbone and its samples; none of this is measured. */
async function prepare(folder: string): Promise<AdaRoundOrder> {
  const { backbone, recipe } = await exportFullSize(SIZE);
  const paths = { float: join(folder, 'backbone.onnx'), recipe: join(folder, 'recipe.json') };
  await writeModel(paths.float, backbone);
  await writeFile(paths.recipe, JSON.stringify(recipe));
  const images: string[] = [];
  for (let i = 1; i <= SAMPLES; i++) {
    const path = join(folder, `${i}.jpg`);
    await writeFile(path, await makeJpeg(SIZE.width, SIZE.height, i));
    images.push(path);
  }
  const annotations = join(folder, 'annotations.json');
  await writeFile(annotations, JSON.stringify({ images: images.map((_, i) => ({ id: i + 1, file_name: `${i + 1}.jpg` })) }));
  const data = { annotations, images: folder };
  const { outputs: calibrated } = await runStage(calibrate, {
    folder,
    params: { part: 'backbone', samples: SAMPLES },
    inputs: { model: paths.float, recipe: paths.recipe, data },
  });
  const { outputs: quantized } = await runStage(quantize, {
    folder,
    params: { preset: 'xint8' },
    inputs: { model: paths.float, sketches: calibrated.sketches ?? '' },
  });
  const { outputs: captured } = await runStage(capture, {
    folder,
    params: { of: 'model', samples: SAMPLES, preprocess: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } },
    inputs: { model: paths.float, images: folder },
  });
  return { folder, float: paths.float, quantized: quantized.model ?? '', captured: captured.captured ?? '' };
}

function inProcess(order: AdaRoundOrder): Promise<AdaRoundMeasured> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('adaround-process.js', import.meta.url)), [JSON.stringify(order)], {
      execArgv: [...WORKER_FLAGS],
    });
    child.on('message', message => resolve(message as AdaRoundMeasured));
    child.on('error', reject);
    child.on('exit', code => reject(new Error(`the measured process ended with ${code}`)));
  });
}
