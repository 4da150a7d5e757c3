/** What does sketching cost beside plain inference, in time and memory? The example's backbone over its calibration images, each way in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../src/base/json.js';
import { decodeImage } from '../src/detection/image.js';
import { listImages, takeFirstImages } from '../src/detection/image-list.js';
import { type MaskRcnnRecipe, parseRecipe } from '../src/detection/recipe.js';
import { prepareImage } from '../src/detection/torchvision/detector.js';
import { readModel } from '../src/onnx/serde/model-file.js';
import { addSample } from '../src/quant/model-sketches.js';
import type { Sketch } from '../src/quant/sketch.js';
import { openSketcher } from '../src/quant/sketch-model.js';
import { CAPTURE_SESSION } from '../src/runtime/capture.js';
import { openSession } from '../src/runtime/session.js';
import type { Tensor } from '../src/tensor/tensor.js';
import { SHAPES_FOLDER } from '../test/support/shapes.js';
import { writeShapesParts } from '../test/support/shapes-parts.js';

const SAMPLES = 16;
/** As the plugin has it. */
const CAPTURE = { budgetBytes: 32 << 20, freeDim: 50 } as const;

interface Measured {
  readonly msPerSample: number;
  /** Peak of the process over what it held before the model was opened. */
  readonly peakMb: number;
  /** Bytes of all float activations over all samples. */
  readonly activationsMb: number;
}

async function readInputs(recipe: MaskRcnnRecipe): Promise<Tensor[]> {
  const annotations = JSON.parse(await readFile(join(SHAPES_FOLDER, 'data/instances_calib.json'), 'utf8')) as Json;
  const inputs: Tensor[] = [];
  for (const { fileName } of takeFirstImages(listImages(annotations), SAMPLES)) {
    const image = await decodeImage(await readFile(join(SHAPES_FOLDER, 'data/calib', fileName)), fileName);
    inputs.push(prepareImage({ recipe, config: recipe.config, fit: 'static' }, image).tensor);
  }
  return inputs;
}

async function measure(way: 'plain' | 'sketch', folder: string): Promise<Measured> {
  const recipe = parseRecipe(JSON.parse(await readFile(join(folder, 'recipe.json'), 'utf8')) as Json);
  const inputs = await readInputs(recipe);
  const path = join(folder, 'backbone.onnx');
  const idle = process.memoryUsage().rss;
  const { run, count } = way === 'plain' ? await plainInference(path, recipe) : await sketching(path, recipe);
  let startMs = 0;
  for (const [index, input] of inputs.entries()) {
    // The first sample opens the sessions.
    if (index === 1) startMs = performance.now();
    await run(input);
  }
  const msPerSample = (performance.now() - startMs) / (SAMPLES - 1);
  return { msPerSample, peakMb: (process.resourceUsage().maxRSS * 1024 - idle) / 1e6, activationsMb: (count() * 4) / 1e6 };
}

async function plainInference(path: string, recipe: MaskRcnnRecipe) {
  const session = await openSession(path, CAPTURE_SESSION);
  return { run: (input: Tensor) => session.run({ [recipe.image.value]: input }), count: () => 0 };
}

async function sketching(path: string, recipe: MaskRcnnRecipe) {
  const sketcher = openSketcher(await readModel(path), CAPTURE);
  const total = new Map<string, Sketch>();
  return {
    run: async (input: Tensor) => addSample(total, await sketcher.sample({ [recipe.image.value]: input })),
    count: () => [...total.values()].reduce((sum, { count }) => sum + count, 0),
  };
}

function measureInProcess(way: 'plain' | 'sketch', folder: string): Measured {
  const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), way, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Measured;
}

const [, , way, given] = process.argv;
if ((way === 'plain' || way === 'sketch') && given !== undefined) {
  process.stdout.write(JSON.stringify(await measure(way, given)));
} else {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-bench-'));
  await writeShapesParts(folder);
  const [plain, sketch] = [measureInProcess('plain', folder), measureInProcess('sketch', folder)];
  await rm(folder, { recursive: true });
  const row = (name: string, { msPerSample, peakMb }: Measured) =>
    `${name.padEnd(18)} ${msPerSample.toFixed(0).padStart(5)} ms per sample  ${peakMb.toFixed(0).padStart(4)} MB over idle`;
  console.log(`backbone of the example, ${SAMPLES} samples, all activations together ${sketch.activationsMb.toFixed(0)} MB`);
  console.log(row('plain inference', plain));
  console.log(row('with sketches', sketch));
}
