/** Outputs of a model as it is captured. */
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { openOutputs } from '../../../src/runtime/capture/run-outputs.js';
import { makeTensor } from '../../../src/tensor/tensor.js';

it('computed outputs, inputs and constants among the outputs are given in their order', async () => {
  const model = parseModelText('g (float[2] x) => (float[3] c, float[2] y, float[2] x) <float[3] c = {1, 2, 3}> { y = Neg(x) }');
  const runner = openOutputs(model);
  const outputs = await runner.run({ x: makeTensor('float32', [2], Float32Array.of(4, 5)) });
  await runner.close();
  expect(outputs.map(output => [output?.dims, [...(output?.data ?? [])]])).toEqual([
    [[3], [1, 2, 3]],
    [[2], [-4, -5]],
    [[2], [4, 5]],
  ]);
});
