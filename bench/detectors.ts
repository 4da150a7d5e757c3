/**
 * Measures images per second of the float and the int8 detectors, and the time of each step, from encoded bytes to run lengths.
 * All detectors are opened once in this process, and measured interleaved with torchvision.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefined } from '../src/base/invariant.js';
import type { Json } from '../src/base/json.js';
import type { CocoId } from '../src/detection/coco/coco-id.js';
import { encodeCocoResults } from '../src/detection/coco/results.js';
import { listImages, takeFirstImages } from '../src/detection/data/image-list.js';
import type { Detector } from '../src/detection/detector/detector.js';
import { makeStopwatch, type Stopwatch } from '../src/detection/detector/measure.js';
import { makeCocoResults } from '../src/detection/detector/object-results.js';
import { decodeImage } from '../src/detection/image/decode-image.js';
import { openDetector } from '../src/detection/open-detector.js';
import { readDefinition } from '../src/detection/read-definition.js';
import { quantize } from '../stages/quantize/stage.js';
import { runStage } from '../test/support/run-stage.js';
import type { ShapesProject } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import { openPeer, type Round } from './peer-detect.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { type Samples, summarize } from './timing.js';

const IMAGES = 40;
const ROUNDS = 7;
/** One thread for each detector, so that they are comparable. */
const THREADS = 1;

export async function measureDetectors(example: Example): Promise<void> {
  const { project } = example.get();
  const data = project.path('examples/shapes/data');
  const files = {
    checkpoint: project.path('examples/shapes/models/maskrcnn-shapes.safetensors'),
    config: project.path('examples/shapes/models/maskrcnn-shapes.json'),
    annotations: join(data, 'instances_val.json'),
    images: join(data, 'val'),
  };
  const images = await readImages(files.annotations, files.images);
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  const float = await open(project, part => project.path(`artifacts/simplify@${part}/model.onnx`));
  const integer = await open(project, part => quantizeForCpu(project, part, folder));
  const asOnBoard = await open(project, part => project.path(`artifacts/quantize@${part}/model.onnx`));
  const peer = await openPeer(files, IMAGES, THREADS);
  const ways: Record<string, () => Promise<Round>> = {
    'tanren, float': () => detectAll(float, images),
    'tanren, int8 u8s8': () => detectAll(integer, images),
    'tanren, xint8': () => detectAll(asOnBoard, images),
    ...(peer === undefined ? {} : { [peer.name]: () => peer.detectAll() }),
  };
  const rounds = await takeTurns(ways);
  for (const { detector } of [float, integer, asOnBoard]) await detector.close();
  peer?.close();
  await rm(folder, { recursive: true });
  printResults(rounds);
  printSteps(rounds);
}

type Rounds = ReadonlyMap<string, readonly Round[]>;

/** Measures all detectors in turn. The first round is a warm-up and not counted. */
async function takeTurns(ways: Readonly<Record<string, () => Promise<Round>>>): Promise<Rounds> {
  const rounds = new Map<string, Round[]>(Object.keys(ways).map(name => [name, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const one = await way();
      if (round >= 0) rounds.get(name)?.push(one);
    }
  }
  return rounds;
}

function printResults(rounds: Rounds): void {
  const perImage = (all: readonly Round[], of: (round: Round) => number): Samples => summarize(all.map(round => of(round) / IMAGES));
  const base = perImage([...rounds.values()][0] ?? [], round => round.ms);
  const rows = [...rounds].map(([name, all]) => {
    const ms = perImage(all, round => round.ms);
    const cpuMs = perImage(all, round => round.cpuMs);
    return [
      name,
      formatSamples(ms),
      (1000 / ms.median).toFixed(1),
      formatRatio(base.median, ms.median),
      formatSamples(cpuMs),
      String(all[0]?.objects ?? 0),
    ];
  });
  printTable(
    `Detectors of the example on CPU, ${THREADS} thread, ${IMAGES} images, bytes to run lengths; median (quartiles) of ${ROUNDS} rounds, interleaved`,
    [['', 'ms per image', 'images/s', 'speed', 'processor ms', 'objects'], ...rows],
  );
}

function printSteps(rounds: Rounds): void {
  const steps = [...new Set([...rounds.values()].flatMap(all => Object.keys(all[0]?.steps ?? {})))];
  const msOf = (all: readonly Round[], step: string): string =>
    step in (all[0]?.steps ?? {}) ? (summarize(all.map(round => (round.steps[step] ?? 0) / IMAGES)).median.toFixed(2) ?? '') : '–';
  const rest = (all: readonly Round[]): string =>
    summarize(all.map(({ ms, steps: own }) => (ms - Object.values(own).reduce((sum, one) => sum + one, 0)) / IMAGES)).median.toFixed(2);
  printTable('Steps, ms per image, medians', [
    ['', ...rounds.keys()],
    ...steps.map(step => [step, ...[...rounds.values()].map(all => msOf(all, step))]),
    ['between them', ...[...rounds.values()].map(rest)],
  ]);
}

interface EncodedImage {
  readonly id: CocoId;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

async function readImages(annotations: string, folder: string): Promise<readonly EncodedImage[]> {
  const listed = takeFirstImages(listImages(JSON.parse(await readFile(annotations, 'utf8')) as Json), IMAGES);
  return Promise.all(listed.map(async ({ id, fileName }) => ({ id, fileName, bytes: await readFile(join(folder, fileName)) })));
}

interface TimedDetector {
  readonly detector: Detector;
  readonly watch: Stopwatch;
}

async function open(project: ShapesProject, modelOf: (part: string) => string | Promise<string>): Promise<TimedDetector> {
  const definition = readDefinition({ recipe: JSON.parse(await readFile(project.path('artifacts/export/recipe.json'), 'utf8')) as Json });
  const parts: Record<string, string> = {};
  for (const { name } of definition.parts) parts[name] = await modelOf(name);
  const watch = makeStopwatch(() => performance.now());
  const options = { optimization: 'all', threads: THREADS, measure: watch.measure } as const;
  return { detector: await openDetector({ definition, models: { kind: 'parts', parts } }, options), watch };
}

/**
 * Quantizes so that ONNX Runtime computes in integers. It computes the model for the board (xint8, with int8 biases) in floats between Q
 * and DQ.
 */
async function quantizeForCpu(project: ShapesProject, part: string, folder: string): Promise<string> {
  const made = part === 'box_head' ? 'simplify' : 'rewrite';
  const inputs = {
    model: project.path(`artifacts/${made}@${part}/model.onnx`),
    sketches: project.path(`artifacts/calibrate@${part}/sketches.json`),
  };
  const { outputs } = await runStage(quantize, { folder, params: { preset: 'u8s8' }, inputs });
  return getDefined(outputs.model, 'the quantized model');
}

async function detectAll({ detector, watch: { measure, take } }: TimedDetector, images: readonly EncodedImage[]): Promise<Round> {
  take();
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  let objects = 0;
  for (const { id, fileName, bytes } of images) {
    const image = await measure('decode', () => decodeImage(bytes, fileName));
    const found = (await detector.trace(image)).objects;
    const results = measure('paste', () => makeCocoResults(id, found));
    measure('encode', () => encodeCocoResults(results));
    objects += results.length;
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  return { ms, cpuMs: (user + system) / 1000, objects, steps: Object.fromEntries(take().map(one => [one.step, one.ms])) };
}
