/** What the parts of a cut by known sizes give together. */
import { getDefined } from '../../../../src/base/invariant.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { cutStatic } from '../../../../src/onnx/surgery/cut-static.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

/** Outputs that depend on no input: one is a constant, one is computed by a node that nothing has folded. */
const MODEL = `<ir_version: 8, opset_import: ["": 17]>
g (float[1, 3, 2, 2] x) => (int64[4, K] found, float[2] labels, float[2] twice)
<float[1, 3, 1, 1] w = {1, 1, 1}, float zero = {0}, float[2] labels = {5, 7}> {
  map = Conv(x, w)
  above = Greater(map, zero)
  found = NonZero(above)
  twice = Add(labels, labels)
}`;

it('outputs that depend on no input are given by the last part', async () => {
  const { parts } = cutStatic(parseModelText(MODEL), { heads: [], prepare: 'drop' });
  expect(parts.map(({ name, values }) => [name, values.outputs])).toEqual([
    ['network', ['map']],
    ['rest', ['found', 'labels', 'twice']],
  ]);
  const rest = parts.at(-1)?.model;
  const session = await openSession(encodeModel(getDefined(rest, 'the last part')), { optimization: 'disabled' });
  const { labels, twice } = await session.run({ map: makeTensor('float32', [1, 1, 2, 2], Float32Array.of(1, -1, 1, -1)) });
  await session.close();
  expect([labels?.data, twice?.data]).toEqual([Float32Array.of(5, 7), Float32Array.of(10, 14)]);
});
