/** Large model files: read in halves, written with few calls. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { readModel, writeModel } from '../../../../src/onnx/serde/model-file.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { givenFolder } from '../../../support/run-stage.js';
import { smallModel } from '../../../support/small-model.js';

const folder = givenFolder('model-file');

it('a model that is read in halves has the bytes of its file', async () => {
  const path = join(folder.path, 'large.onnx');
  const model = smallModel({
    inputs: { x: ['float32', [1, 3]] },
    constants: {
      w: encodeRawTensor(
        makeTensor(
          'float32',
          [3, 1_500_001],
          Float32Array.from({ length: 4_500_003 }, (_, i) => i),
        ),
      ),
    },
    nodes: [{ op: 'MatMul', in: ['x', 'w'], out: ['y'] }],
    outputs: ['y'],
  });
  await writeModel(path, model);
  const bytes = await readFile(path);
  expect(bytes.byteLength).toBeGreaterThan(16 << 20);
  expect(Buffer.compare(encodeModel(await readModel(path)), bytes)).toBe(0);
});
