/** Feeding, calibrating and measuring classifiers of public models, for the conformance suite. */

import type { RgbImage } from '../../src/detection/image/decode-image.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { addSample, type ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../src/quant/calibration/sketch-model.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import { openSession } from '../../src/runtime/session/session.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

const MEAN = [0.485, 0.456, 0.406] as const;
const STD = [0.229, 0.224, 0.225] as const;

/** RGB bytes as ImageNet's networks take them, [1, 3, height, width]. */
export function normalize({ width, height, data }: RgbImage): Tensor<'float32'> {
  const plane = width * height;
  const values = new Float32Array(3 * plane);
  for (const [c, mean] of MEAN.entries()) {
    const std = Math.fround(STD[c] ?? 1);
    for (let i = 0; i < plane; i++) {
      values[c * plane + i] = Math.fround(Math.fround((data[i * 3 + c] as number) / 255) - Math.fround(mean)) / std;
    }
  }
  return makeTensor('float32', [1, 3, height, width], values);
}

/** Images of one size as one batch. */
export function stack(images: readonly Tensor<'float32'>[]): Tensor<'float32'> {
  const [, ...dims] = images[0]?.dims ?? [];
  const size = images[0]?.data.length ?? 0;
  const data = new Float32Array(images.length * size);
  for (const [i, image] of images.entries()) data.set(image.data, i * size);
  return makeTensor('float32', [images.length, ...dims], data);
}

export async function sketchInputs(model: Model, inputs: readonly Tensor[]): Promise<ModelSketches> {
  const sketcher = openSketcher(model, { budgetBytes: 64 << 20, freeDim: inputs[0]?.dims[0] ?? 1 });
  const total = new Map<string, Sketch>();
  for (const input of inputs) addSample(total, await sketcher.sample({ [inputOf(model)]: input }));
  await sketcher.close();
  const values = new Map([...total].map(([address, sketch]) => [address, { name: address, sketch }]));
  return { model: digestModelContent(model), samples: inputs.length, values };
}

function inputOf({ graph }: Model): string {
  const id = graph.inputs.find(input => graph.values.get(input)?.constant === undefined);
  return id === undefined ? '' : getValue(graph, id).name;
}

/** Logits of each image, in the order of the batches. */
export async function classify(model: Model, batches: readonly Tensor[]): Promise<readonly Float32Array[]> {
  const session = await openSession(encodeModel(model), { optimization: 'all' });
  const logits: Float32Array[] = [];
  for (const batch of batches) {
    const output = (await session.run({ [inputOf(model)]: batch }))[session.outputNames[0] ?? ''];
    if (output?.dtype !== 'float32') throw new Error('logits are float32');
    const [count = 0, classes = 0] = output.dims;
    for (let i = 0; i < count; i++) logits.push(output.data.slice(i * classes, (i + 1) * classes));
  }
  await session.close();
  return logits;
}

/** The class with the greatest logit; of several the lowest. */
export function topOf(logits: Float32Array): number {
  return logits.indexOf(logits.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY));
}
