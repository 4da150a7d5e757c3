/** The process that `calibrate.ts` measures: runs the stage, or plain inference, over the same images, and tells its own memory. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../src/base/json.js';
import { decodeImage } from '../src/detection/image.js';
import { listImages, takeFirstImages } from '../src/detection/image-list.js';
import { parseRecipe } from '../src/detection/recipe.js';
import { prepareImage } from '../src/detection/torchvision/detector.js';
import { CAPTURE_SESSION } from '../src/runtime/capture.js';
import { openSession, type Session } from '../src/runtime/session.js';
import { calibrate } from '../stages/calibrate/stage.js';
import { runStage } from '../test/support/run-stage.js';

export type CalibrateWay = 'plain' | 'calibrate';

export interface CalibrateOrder {
  readonly way: CalibrateWay;
  /** Folder of the built example. */
  readonly project: string;
  readonly samples: number;
}

export interface Measured {
  readonly ms: number;
  /** With all modules loaded. */
  readonly loadedBytes: number;
  /** And with a session of the model open, which stays open. */
  readonly openedBytes: number;
  readonly peakBytes: number;
}

async function measure(order: CalibrateOrder): Promise<Measured> {
  await import('../stages/calibrate/run.js');
  const loadedBytes = process.memoryUsage.rss();
  const session = await openSession(join(order.project, 'artifacts/rewrite/model.onnx'), CAPTURE_SESSION);
  const openedBytes = process.memoryUsage.rss();
  const start = performance.now();
  await (order.way === 'plain' ? inferPlainly(order, session) : runCalibrate(order));
  const ms = performance.now() - start;
  const peakBytes = await readPeak();
  await session.close();
  return { ms, loadedBytes, openedBytes, peakBytes };
}

/** Linux counts the parent's size in `maxRSS` where a process was forked from a large one: VmHWM is of this program alone. */
async function readPeak(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

async function inferPlainly({ project, samples }: CalibrateOrder, session: Session): Promise<void> {
  const recipe = parseRecipe(await readJson(join(project, 'artifacts/export/recipe.json')));
  const data = join(project, 'examples/shapes/data');
  for (const { fileName } of takeFirstImages(listImages(await readJson(join(data, 'instances_calib.json'))), samples)) {
    const image = await decodeImage(await readFile(join(data, 'calib', fileName)), fileName);
    await session.run({ [recipe.image.value]: prepareImage({ recipe, config: recipe.config, fit: recipe.image.fit }, image).tensor });
  }
}

async function runCalibrate({ project, samples }: CalibrateOrder): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  const example = join(project, 'examples/shapes');
  await runStage(calibrate, {
    folder,
    params: { part: 'backbone', samples },
    inputs: {
      model: join(project, 'artifacts/rewrite/model.onnx'),
      recipe: join(project, 'artifacts/export/recipe.json'),
      config: join(example, 'models/maskrcnn-shapes.json'),
      data: { annotations: join(example, 'data/instances_calib.json'), images: join(example, 'data/calib') },
    },
  }).finally(() => rm(folder, { recursive: true }));
}

async function readJson(path: string): Promise<Json> {
  return JSON.parse(await readFile(path, 'utf8')) as Json;
}

const [, , text] = process.argv;
if (process.send !== undefined && text !== undefined) process.send(await measure(JSON.parse(text) as CalibrateOrder));
