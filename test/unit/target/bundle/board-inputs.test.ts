/** The inputs that the programs of a bundle make of an image, against those that the host makes: every form, and inputs besides the image. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { JsonObject } from '../../../../src/base/json.js';
import { makeImageFeeds } from '../../../../src/detection/data/image-feeds.js';
import type { ImageInputs } from '../../../../src/detection/data/image-inputs-schema.js';
import type { ImageForm } from '../../../../src/detection/image/image-form.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../src/detection/image/preprocessing-schema.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { ajvOf } from '../../../support/params-schema.js';
import { PROJECT } from '../../../support/shapes-project.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const BOARD = join(PROJECT, 'src/target/bundle/board');
const [HEIGHT, WIDTH] = [23, 37];
const data = Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, at) => (at * at * 31) % 251);

/** Prints dtype, dims and bytes of every input. */
const PROGRAM = `
import base64, json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(BOARD)})
import numpy as np
from tanren_host.preprocess import make_inputs
entry = json.load(sys.stdin)
image = np.frombuffer(base64.b64decode(entry["pixels"]), np.uint8).reshape(${HEIGHT}, ${WIDTH}, 3)
values, _ = make_inputs(image, (entry["height"], entry["width"]), entry)
print(json.dumps({name: [str(value.dtype), list(value.shape), base64.b64encode(value.tobytes()).decode()] for name, value in values.items()}))
`;

const USUAL: ImageForm = { dtype: 'float32', layout: 'channels-first', batch: 'one', channels: 3, height: 12, width: 16 };

function compare(form: ImageForm, preprocess: JsonObject, others: ImageInputs['others'] = []): void {
  const preprocessing = ajvOf(PREPROCESSING_SCHEMA)(preprocess) as Preprocessing;
  const inputs: ImageInputs = { image: { name: 'x', form }, others, order: ['x', ...others.map(({ name }) => name)] };
  const { feeds } = makeImageFeeds({ height: HEIGHT, width: WIDTH, data }, inputs, preprocessing);
  const expected = Object.fromEntries(
    Object.entries(feeds).map(([name, tensor]) => {
      const { dtype, dims, bytes } = encodeRawTensor(tensor);
      return [name, [dtype, dims, Buffer.from(bytes).toString('base64')]];
    }),
  );
  const entry = { value: 'x', height: form.height, width: form.width, preprocess: preprocessing, form, others };
  const input = JSON.stringify({ ...entry, pixels: Buffer.from(data).toString('base64') });
  const { stdout, stderr } = spawnSync('python3', ['-c', PROGRAM], { encoding: 'utf8', input });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(expected);
}

describeWithPython('inputs on a board', () => {
  it.each<[string, Partial<ImageForm>, JsonObject]>([
    ['floats by default', {}, { resize: 'stretch', antialias: true, rounding: 'bytes', mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4] }],
    ['bytes with channels last', { dtype: 'uint8', layout: 'channels-last' }, { resize: 'pad', fill: [10, 20, 30], colors: 'bgr' }],
    ['bytes without a batch', { dtype: 'uint8', layout: 'channels-last', batch: 'none' }, { resize: 'stretch' }],
    ['three images at once', { batch: 3 }, { resize: 'stretch' }],
    ['signed bytes', { dtype: 'int8' }, { resize: 'stretch', rounding: 'bytes', mean: [127.5, 127.5, 127.5] }],
    ['64-bit integers', { dtype: 'int64' }, { resize: 'crop' }],
    ['gray', { channels: 1 }, { resize: 'stretch', antialias: true, rounding: 'bytes', mean: [0.5, 0, 0] }],
    ['half floats', { dtype: 'float16' }, { resize: 'stretch' }],
  ])('%s are those of the host', (_, form, preprocess) => compare({ ...USUAL, ...form }, preprocess));

  it('of each image of a batch are those of the host', () =>
    compare({ ...USUAL, batch: 2 }, { resize: 'pad' }, [
      { kind: 'values', name: 'a', dtype: 'float32', dims: [2, 2], values: ['scale-y', 'scale-x'] },
      { kind: 'values', name: 'b', dtype: 'float32', dims: [2], values: ['image-width'] },
      { kind: 'values', name: 'c', dtype: 'float32', dims: [2, 1], values: [1, 2] },
      { kind: 'values', name: 'd', dtype: 'float32', dims: [1], values: [0.5] },
    ]));

  it('besides the image are those of the host', () => {
    const words = [
      'image-height',
      'image-width',
      'resized-height',
      'resized-width',
      'input-height',
      'input-width',
      'scale-y',
      'scale-x',
    ] as const;
    compare(USUAL, { resize: 'pad', place: 'center' }, [
      { kind: 'values', name: 'a', dtype: 'float32', dims: [1, 8], values: words },
      { kind: 'values', name: 'b', dtype: 'int64', dims: [1, 2], values: ['input-height', 2.5] },
      { kind: 'values', name: 'c', dtype: 'float32', dims: [2, 2], values: [0.25] },
      { kind: 'image', name: 'd', form: { ...USUAL, dtype: 'uint8', height: 8, width: 8 } },
    ]);
  });
});
