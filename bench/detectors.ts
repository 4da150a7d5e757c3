/** How many images per second do the float and the int8 detector take? In this process, opened once: decode, run, join, paste masks; image by image, in turn. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../src/base/json.js';
import type { Detector } from '../src/detection/detector.js';
import { decodeImage } from '../src/detection/image.js';
import { listImages, takeFirstImages } from '../src/detection/image-list.js';
import { makeCocoResults } from '../src/detection/object-results.js';
import { openDetector } from '../src/detection/open-detector.js';
import { listParts, readSetup } from '../src/detection/setup.js';
import type { ShapesProject } from '../test/support/shapes-project.js';
import type { Example } from './example.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave, type Samples } from './timing.js';

const IMAGES = 40;
const ROUNDS = 5;

export async function measureDetectors(example: Example): Promise<void> {
  const { project } = example.get();
  const images = await readImages(project);
  const [float, int8] = [await open(project, 'simplify'), await open(project, 'quantize')];
  const times = await interleave({ float: () => detectAll(float, images), int8: () => detectAll(int8, images) }, ROUNDS);
  await float.close();
  await int8.close();
  printTable(
    `Detectors of the example on CPU, ${IMAGES} images, decode to masks, ms per image, median (quartiles) of ${ROUNDS} rounds, in turn`,
    [['', 'ms per image', 'images/s', 'speed'], rowOf('float', times.float, times.float), rowOf('int8 (QDQ)', times.int8, times.float)],
  );
}

function rowOf(name: string, samples: Samples, base: Samples): readonly string[] {
  const perImage = { ...samples, median: samples.median / IMAGES, low: samples.low / IMAGES, high: samples.high / IMAGES };
  return [name, formatSamples(perImage), (1000 / perImage.median).toFixed(1), formatRatio(base.median, samples.median)];
}

interface EncodedImage {
  readonly id: number;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

async function readImages(project: ShapesProject): Promise<readonly EncodedImage[]> {
  const data = project.path('examples/shapes/data');
  const annotations = JSON.parse(await readFile(join(data, 'instances_val.json'), 'utf8')) as Json;
  const listed = takeFirstImages(listImages(annotations), IMAGES);
  return Promise.all(listed.map(async ({ id, fileName }) => ({ id, fileName, bytes: await readFile(join(data, 'val', fileName)) })));
}

async function open(project: ShapesProject, group: 'simplify' | 'quantize'): Promise<Detector> {
  const setup = readSetup({ recipe: JSON.parse(await readFile(project.path('artifacts/export/recipe.json'), 'utf8')) as Json });
  const path = (part: string): string => project.path(join('artifacts', `${group}@${part}`, 'model.onnx'));
  const parts = Object.fromEntries(listParts(setup.recipe).map(({ name }) => [name, path(name)]));
  return openDetector({ setup, models: { kind: 'parts', parts } }, { optimization: 'all' });
}

async function detectAll(detector: Detector, images: readonly EncodedImage[]): Promise<void> {
  for (const { id, fileName, bytes } of images) {
    const image = await decodeImage(bytes, fileName);
    makeCocoResults(id, (await detector.trace(image)).objects);
  }
}
