/** Calibration on noise: the deliberately bad example that bounds on SQNR and AP must notice. */
import type { MaskRcnnPart } from '../../src/detection/families/maskrcnn/part-names.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { addSample, type ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../src/quant/calibration/sketch-model.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

const SAMPLES = 16;
const MEAN = [0.485, 0.456, 0.406];
const STD = [0.229, 0.224, 0.225];

/** Images of uniform pixels, normalised; RoI features uniform in the range of normalised input. `channels` are those of the features. */
export async function sketchNoise(model: Model, part: MaskRcnnPart, channels: number): Promise<ModelSketches> {
  const [input] = model.graph.inputs;
  const name = input === undefined ? '' : getValue(model.graph, input).name;
  const sketcher = openSketcher(model, { budgetBytes: 8 << 20, freeDim: 50 });
  const total = new Map<string, Sketch>();
  for (let sample = 0; sample < SAMPLES; sample++) addSample(total, await sketcher.sample({ [name]: makeNoise(part, channels, sample) }));
  await sketcher.close();
  return {
    model: digestModelContent(model),
    samples: SAMPLES,
    values: new Map([...total].map(([address, sketch]) => [address, { name: address, sketch }])),
  };
}

function makeNoise(part: MaskRcnnPart, channels: number, sample: number): Tensor {
  const uniform = parkMiller(sample + 1);
  if (part !== 'backbone') {
    const dims = part === 'box_head' ? [50, channels, 7, 7] : [8, channels, 14, 14];
    const length = dims.reduce((product, dim) => product * dim, 1);
    return makeTensor(
      'float32',
      dims,
      Float32Array.from({ length }, () => -2.1179 + uniform() * (2.64 + 2.1179)),
    );
  }
  const plane = 192 * 256;
  const pixel = (i: number): number => {
    const channel = Math.floor(i / plane);
    return (uniform() - (MEAN[channel] ?? 0)) / (STD[channel] ?? 1);
  };
  return makeTensor(
    'float32',
    [1, 3, 192, 256],
    Float32Array.from({ length: 3 * plane }, (_, i) => pixel(i)),
  );
}

/** Park and Miller's generator: the same sequence everywhere. */
function parkMiller(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
