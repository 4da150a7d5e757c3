/** The process that `calibrate.ts` measures: runs the stage, or plain inference, on the same images, and reports its own memory. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '../src/base/json.js';
import { listImages, takeFirstImages } from '../src/detection/data/image-list.js';
import { decodeImage } from '../src/detection/image/decode-image.js';
import { readDefinition } from '../src/detection/read-definition.js';
import { CAPTURE_SESSION } from '../src/runtime/capture/capture.js';
import { openSession, type Session } from '../src/runtime/session/session.js';
import { calibrate } from '../stages/calibrate/stage.js';
import { runStage } from '../test/support/run-stage.js';
import { readPeak } from './peak.js';

/** 'plain': inference of the same images. 'second-pass': calibrate with `compat: ort`, which runs inference twice. */
export type CalibrateWay = 'plain' | 'calibrate' | 'second-pass';

export interface CalibrateFiles {
  readonly model: string;
  readonly recipe: string;
  readonly annotations: string;
  /** The folder of the images. */
  readonly images: string;
}

export interface CalibrateOrder {
  readonly way: CalibrateWay;
  readonly files: CalibrateFiles;
  readonly samples: number;
}

export interface Measured {
  readonly ms: number;
  /** Processor time of all threads. Other load on the machine affects it less. */
  readonly cpuMs: number;
  /** Memory with all modules loaded. */
  readonly loadedBytes: number;
  /** Memory with all modules loaded and a session of the model open, which stays open. */
  readonly openedBytes: number;
  readonly peakBytes: number;
  /** Elements that were sketched, counted by the stage itself; 0 for plain inference. */
  readonly elements: number;
}

async function measure(order: CalibrateOrder): Promise<Measured> {
  await import('../stages/calibrate/run.js');
  const loadedBytes = process.memoryUsage.rss();
  const session = order.way === 'plain' ? await openSession(order.files.model, CAPTURE_SESSION) : undefined;
  const openedBytes = process.memoryUsage.rss();
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  const elements = session === undefined ? await runCalibrate(order) : await inferPlainly(order, session);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  const peakBytes = await readPeak();
  await session?.close();
  return { ms, cpuMs: (user + system) / 1000, loadedBytes, openedBytes, peakBytes, elements };
}

async function inferPlainly({ files, samples }: CalibrateOrder, session: Session): Promise<number> {
  const definition = readDefinition({ recipe: await readJson(files.recipe) });
  for (const { fileName } of takeFirstImages(listImages(await readJson(files.annotations)), samples)) {
    const image = await decodeImage(await readFile(join(files.images, fileName)), fileName);
    await session.run(definition.prepareInput(image));
  }
  return 0;
}

async function runCalibrate({ way, files, samples }: CalibrateOrder): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  try {
    const { outputs } = await runStage(calibrate, {
      folder,
      params: { part: 'backbone', samples, compat: way === 'second-pass' ? 'ort' : 'none' },
      inputs: { model: files.model, recipe: files.recipe, data: { annotations: files.annotations, images: files.images } },
    });
    const { values } = (await readJson(outputs.report ?? '')) as { readonly values: readonly JsonObject[] };
    return values.reduce((sum, { count }) => sum + Number(count), 0);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readJson(path: string): Promise<Json> {
  return JSON.parse(await readFile(path, 'utf8')) as Json;
}

const [, , text] = process.argv;
if (process.send !== undefined && text !== undefined) process.send(await measure(JSON.parse(text) as CalibrateOrder));
