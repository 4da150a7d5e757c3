/** The small network that pages and tests quantize: two convolutions with a Relu between them, and its sketches of three samples. */
import type { JsonObject } from '../../src/base/json.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { ints } from '../../src/onnx/ir/attribute.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { addSample, encodeModelSketches, type ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../src/quant/calibration/sketch-model.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import { floats, randomConstant, randomFloats, smallModel } from './small-model.js';

const SAME = { pads: ints([1, 1, 1, 1]) };
const SAMPLES = 3;

/** image → features → active → logits. */
export function smallHead(): Model {
  return smallModel({
    inputs: { image: ['float32', [1, 3, 8, 8]] },
    constants: {
      'first.weight': randomConstant([4, 3, 3, 3], 7),
      'first.bias': floats([4], [0.1, -0.2, 0.3, 0]),
      'second.weight': randomConstant([2, 4, 3, 3], 8),
      'second.bias': floats([2], [0.5, -0.5]),
    },
    nodes: [
      { op: 'Conv', name: 'first', in: ['image', 'first.weight', 'first.bias'], out: ['features'], attributes: SAME },
      { op: 'Relu', name: 'relu', in: ['features'], out: ['active'] },
      { op: 'Conv', name: 'second', in: ['active', 'second.weight', 'second.bias'], out: ['logits'], attributes: SAME },
    ],
    outputs: ['logits'],
  });
}

export async function sketchHead(model: Model): Promise<ModelSketches> {
  const sketcher = openSketcher(model, { budgetBytes: 1 << 20, freeDim: 1 });
  const total = new Map<string, Sketch>();
  for (let seed = 1; seed <= SAMPLES; seed++) addSample(total, await sketcher.sample({ image: randomFloats([1, 3, 8, 8], seed) }));
  await sketcher.close();
  const values = new Map([...total].map(([address, sketch]) => [address, { name: address.slice(0, 8), sketch }]));
  return { model: digestModelContent(model), samples: SAMPLES, values };
}

export async function encodeHeadSketches(): Promise<JsonObject> {
  return encodeModelSketches(await sketchHead(smallHead()));
}
