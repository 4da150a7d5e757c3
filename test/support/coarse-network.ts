/** A float network of three layers, its quantized model with coarse weights, and captured samples, for stages that recover accuracy. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { PRESETS } from '../../src/quant/scheme/scheme.js';
import { encodeNpz } from '../../src/tensor/formats/npz.js';
import { capture } from '../../stages/capture/stage.js';
import { quantizeOn } from './quantize-small.js';
import { runStage } from './run-stage.js';
import { randomConstants, randomFloats, smallModel } from './small-model.js';

export const IMAGE = [1, 3, 8, 8];
export const LAYERS = ['one', 'two', 'three'];

const network = () =>
  smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: randomConstants({ w1: [8, 3, 3, 3], b1: [8], w2: [8, 8, 3, 3], b2: [8], w3: [4, 8, 1, 1], b3: [4] }),
    nodes: [
      { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c1'] },
      { op: 'Relu', in: ['c1'], out: ['r1'] },
      { op: 'Conv', name: 'two', in: ['r1', 'w2', 'b2'], out: ['c2'] },
      { op: 'Relu', in: ['c2'], out: ['r2'] },
      { op: 'Conv', name: 'three', in: ['r2', 'w3', 'b3'], out: ['y'] },
    ],
    outputs: ['y'],
  });

/** Writes float.onnx, int8.onnx and captured samples into `folder`. @returns the input ports of the stage. */
export async function writeCoarseNetwork(folder: string): Promise<Record<string, string>> {
  const at = (name: string): string => join(folder, name);
  await mkdir(at('tensors'));
  const float = network();
  await writeModel(at('float.onnx'), float);
  // Four bits of the weights are lost, so that biases have something to correct.
  await writeModel(
    at('int8.onnx'),
    await quantizeOn(
      float,
      { x: randomFloats(IMAGE, 10) },
      {
        ...PRESETS.u8s8,
        weight: { ...PRESETS.u8s8.weight, range: { kind: 'power-of-two', position: { kind: 'min-mse', first: -5, last: -4 } } },
      },
    ),
  );
  for (const seed of [10, 11, 12]) await writeFile(at(`tensors/${seed}.npz`), encodeNpz(new Map([['x', randomFloats(IMAGE, seed)]])));
  const { outputs } = await runStage(capture, {
    params: { of: 'model' },
    inputs: { model: at('float.onnx'), tensors: at('tensors') },
    folder,
  });
  return { model: at('int8.onnx'), float: at('float.onnx'), captured: outputs.captured ?? '' };
}
