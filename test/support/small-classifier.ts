/** A pipeline of a classifier in a project: three classes of plain images, and a convolution that tells them apart. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';

const PIPELINE = `version: 1
sources: {model: classifier.onnx, images: images, labels: labels.txt}
stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
  simplify: {uses: simplify, inputs: {model: import.model}}
  capture: {uses: capture, with: {of: model, preprocess: {}}, inputs: {model: simplify.model, images: "\${sources.images}"}}
  calibrate: {uses: calibrate, with: {preprocess: {}}, inputs: {model: simplify.model, images: "\${sources.images}"}}
  quantize: {uses: quantize, inputs: {model: simplify.model, sketches: calibrate.sketches}}
  classes-float: {uses: evaluate-classes, with: {preprocess: {}}, inputs: {model: simplify.model, images: "\${sources.images}", labels: "\${sources.labels}"}}
  classes-int8:
    uses: evaluate-classes
    with: {preprocess: {}}
    inputs: {model: quantize.model, images: "\${sources.images}", labels: "\${sources.labels}", baseline: classes-float.metrics}
  sensitivity: {uses: sensitivity, inputs: {model: quantize.model, float: simplify.model, captured: capture.captured}}
  compile: {uses: compile, with: {target: ryzen-ai, dtype: xint8}, inputs: {model: quantize.model}}
`;

/** The scores are the means of red, green and blue after a convolution. */
const MODEL = `
agraph (float[1, 3, 8, 8] image) => (float[1, 3] scores)
  <float[3, 3, 1, 1] weight = {0.5, 0.1, 0, 0, 0.75, 0.1, 0.2, 0, 1}>
{
  mixed = Conv(image, weight)
  positive = Relu(mixed)
  pooled = GlobalAveragePool(positive)
  scores = Flatten(pooled)
}`;

/** The name of one image is markup. */
export const HOSTILE_IMAGE = '<script>alert(1).png';

const IMAGES: Readonly<Record<string, readonly [number, number, number, label: number]>> = {
  'r.png': [200, 10, 10, 0],
  'g.png': [10, 200, 10, 1],
  'b.png': [40, 90, 210, 2],
  // A wrong label: what is predicted is class 1.
  [HOSTILE_IMAGE]: [20, 220, 30, 2],
};

/** Writes `classifier.yaml` and its files. */
export async function addSmallClassifier(folder: string): Promise<void> {
  await writeModel(join(folder, 'classifier.onnx'), parseModelText(MODEL));
  mkdirSync(join(folder, 'images'));
  for (const [name, [r, g, b]] of Object.entries(IMAGES))
    await sharp({ create: { width: 8, height: 8, channels: 3, background: { r, g, b } } })
      .png()
      .toFile(join(folder, 'images', name));
  const labels = Object.entries(IMAGES).map(([name, [, , , label]]) => `${name} ${label}\n`);
  writeFileSync(join(folder, 'labels.txt'), labels.join(''));
  writeFileSync(join(folder, 'classifier.yaml'), PIPELINE);
}
