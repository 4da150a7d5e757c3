/** Compares the outputs of our YOLACT with those of the original, which come permuted, concatenated and activated, value by value. */
import { join } from 'node:path';
import type { ReadConfigFile } from '../../src/detection/detector/config-file.js';
import { parseYolactConfig, type YolactConfig } from '../../src/detection/families/yolact/config.js';
import { exportYolact, type YolactExport } from '../../src/detection/families/yolact/export/export-yolact.js';
import type { YolactRecipe } from '../../src/detection/families/yolact/recipe.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { readStateDict } from '../../src/tensor/formats/state-dict.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import { SHAPES_FOLDER } from './shapes.js';

/** The trained YOLACT of the example, as `export` builds it. */
export async function exportYolactShapes(): Promise<YolactExport> {
  const state = await readStateDict(join(SHAPES_FOLDER, 'models/yolact-shapes.pth'));
  return exportYolact(state, (await readYolactShapesConfig()).config, { height: 274, width: 274 });
}

export async function readYolactShapesConfig(): Promise<ReadConfigFile<YolactConfig>> {
  return parseYolactConfig(await readJsonFile(join(SHAPES_FOLDER, 'models/yolact-shapes.json')), undefined);
}

export type Outputs = Readonly<Record<string, Tensor | undefined>>;

/** What dbolya/yolact's network returns at test time, flattened. */
export interface OriginalOutputs {
  readonly loc: Float32Array;
  readonly conf: Float32Array;
  readonly mask: Float32Array;
  readonly proto: Float32Array;
}

export function toOriginal(outputs: Outputs, { levels, prototypes, config }: YolactRecipe): OriginalOutputs {
  const classes = config.categories.length + 1;
  const all = (names: readonly string[]): Float32Array => Float32Array.from(names.flatMap(name => [...channelsLast(outputs[name])]));
  return {
    loc: all(levels.map(level => level.boxes)),
    conf: softmax(all(levels.map(level => level.classes)), classes),
    mask: all(levels.map(level => level.coefficients)).map(Math.tanh),
    proto: all([prototypes.value]).map(value => Math.max(value, 0)),
  };
}

/** [1, C, H, W] to [H, W, C]. */
function channelsLast(tensor: Tensor | undefined): Float32Array {
  if (tensor?.dtype !== 'float32') throw new Error('no such float32 output');
  const [, channels = 0, height = 0, width = 0] = tensor.dims;
  const moved = new Float32Array(tensor.data.length);
  for (let channel = 0; channel < channels; channel++)
    for (let cell = 0; cell < height * width; cell++)
      moved[cell * channels + channel] = tensor.data[channel * height * width + cell] ?? Number.NaN;
  return moved;
}

function softmax(logits: Float32Array, classes: number): Float32Array {
  const probabilities = new Float32Array(logits.length);
  for (let row = 0; row < logits.length; row += classes) {
    const values = logits.subarray(row, row + classes);
    const most = values.reduce((a, b) => Math.max(a, b));
    const exps = Array.from(values, value => Math.exp(value - most));
    const sum = exps.reduce((total, value) => total + value, 0);
    for (const [label, value] of exps.entries()) probabilities[row + label] = value / sum;
  }
  return probabilities;
}
