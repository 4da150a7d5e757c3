/** How threads of a session wait for each other. */
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { randomFloats, smallModel } from '../../support/small-model.js';

const [ROWS, SIZE, COLUMNS] = [64, 512, 768];

it('does not change the bits of a product', async () => {
  const model = encodeModel(
    smallModel({
      inputs: { x: ['float32', [ROWS, SIZE]] },
      constants: { w: encodeRawTensor(randomFloats([SIZE, COLUMNS], 1)) },
      nodes: [{ op: 'MatMul', in: ['x', 'w'], out: ['y'] }],
      outputs: ['y'],
    }),
  );
  const x = randomFloats([ROWS, SIZE], 2);
  const results = [];
  for (const waiting of ['spinning', 'sleeping'] as const) {
    const session = await openSession(model, { optimization: 'disabled', threads: 2, waiting });
    const { y } = await session.run({ x });
    results.push([...(y?.data as Float32Array)]);
    await session.close();
  }
  expect(results[1]).toEqual(results[0]);
});
