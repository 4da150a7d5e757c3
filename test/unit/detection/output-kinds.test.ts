/** The kinds of numbers in the outputs of a model, by the recipe of a detector. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOutputKinds } from '../../../src/detection/output-kinds.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder } from '../../support/run-stage.js';

const folder = givenFolder('output-kinds');

const RECIPE = {
  format: 'tanren-recipe',
  version: 1,
  architecture: 'single',
  image: {
    value: 'images',
    height: 32,
    width: 32,
    preprocess: {
      colors: 'rgb',
      range: '0..255',
      mean: [0, 0, 0],
      std: [1, 1, 1],
      resize: 'stretch',
      sizes: 'down',
      place: 'corner',
      fill: [0, 0, 0],
      filter: 'linear',
      antialias: true,
      rounding: 'none',
    },
  },
  parts: { model: { inputs: ['images'], outputs: ['rows', 'features'] } },
  decoder: {
    kind: 'grid',
    output: 'rows',
    strides: [32],
    boxes: { form: 'exp', channel: 0 },
    objectness: { channel: 4, power: 1, activation: 'none' },
    classes: { channel: 5, power: 1, activation: 'none' },
  },
  selection: {
    scoreThreshold: 0.01,
    labels: 'best',
    candidates: 10,
    nms: { threshold: 0.65, classes: 'each' },
    perImage: 10,
    clip: 'image',
  },
  categories: [
    { id: 1, name: 'one' },
    { id: 2, name: 'two' },
  ],
};

async function writeRecipe(recipe: object): Promise<string> {
  const path = join(folder.path, 'recipe.json');
  await writeFile(path, JSON.stringify(recipe));
  return path;
}

const rows = makeTensor('float32', [1, 1, 7], Float32Array.of(1, 2, 3, 4, 5, 6, 7));
const features = makeTensor('float32', [2], Float32Array.of(8, 9));

it('stand in place of an output that holds several; another output stays', async () => {
  const kinds = await openOutputKinds({ recipe: await writeRecipe(RECIPE) });
  const found = Object.entries(kinds({ rows, features })).map(([name, { data }]) => [name, [...data]]);
  expect(Object.fromEntries(found)).toEqual({
    'rows/boxes': [1, 2, 3, 4],
    'rows/objectness': [5],
    'rows/classes': [6, 7],
    features: [8, 9],
  });
});

it('of a network that takes two images at once hold the rows of both', async () => {
  const form = { dtype: 'float32', layout: 'channels-first', batch: 2, channels: 3, height: 32, width: 32 };
  const kinds = await openOutputKinds({ recipe: await writeRecipe({ ...RECIPE, image: { ...RECIPE.image, form } }) });
  const both = makeTensor('float32', [2, 1, 7], Float32Array.of(1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17));
  const found = Object.entries(kinds({ rows: both })).map(([name, { data }]) => [name, [...data]]);
  expect(Object.fromEntries(found)).toEqual({
    'rows/boxes': [1, 2, 3, 4, 11, 12, 13, 14],
    'rows/objectness': [5, 15],
    'rows/classes': [6, 7, 16, 17],
  });
  expect((await failureOf(async () => kinds({ rows }))).code).toBe('batch-rows');
});

it('an output whose name begins that of the split one stays', async () => {
  const other = {
    ...RECIPE,
    parts: { model: { inputs: ['images'], outputs: ['det/rows', 'det'] } },
    decoder: { ...RECIPE.decoder, output: 'det/rows' },
  };
  const kinds = await openOutputKinds({ recipe: await writeRecipe(other) });
  expect(Object.keys(kinds({ 'det/rows': rows, det: features })).sort()).toEqual([
    'det',
    'det/rows/boxes',
    'det/rows/classes',
    'det/rows/objectness',
  ]);
});

it('of a model without the output that the recipe reads, and without a recipe, outputs stay as they are', async () => {
  const other = { features };
  expect((await openOutputKinds({ recipe: await writeRecipe(RECIPE) }))(other)).toEqual(other);
  expect((await openOutputKinds({}))({ rows })).toEqual({ rows });
});

it('an output of another form than the recipe states is refused', async () => {
  const kinds = await openOutputKinds({ recipe: await writeRecipe(RECIPE) });
  const wrong = makeTensor('float32', [1, 1, 6], new Float32Array(6));
  expect((await failureOf(async () => kinds({ rows: wrong }))).code).toBe('decoder-shape');
});

it('a file that is no recipe is refused', async () => {
  expect((await failureOf(async () => openOutputKinds({ recipe: await writeRecipe({ format: 'other' }) }))).code).toBe('bad-recipe');
});
