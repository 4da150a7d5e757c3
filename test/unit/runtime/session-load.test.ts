/** What a message says of models that ONNX Runtime does not load. */
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../src/runtime/session/session.js';

it.each<[string, string, RegExp]>([
  [
    'an operator of a vendor',
    '<ir_version: 8, opset_import: ["": 17, "mmdeploy": 1]> g (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { y = mmdeploy.Deform(x) }',
    /^ONNX Runtime has no operator Deform of domain mmdeploy: .*`cut` of import/,
  ],
  [
    'an operator of a later opset',
    '<ir_version: 8, opset_import: ["": 15]> g (float[2] x) => (float[2] y) { y = Mish(x) }',
    /^ONNX Runtime has no operator Mish in opset 15/,
  ],
  [
    'types without a kernel',
    '<ir_version: 8, opset_import: ["": 17]> g (int8[2, 2] x) => (int8[2, 2] y) { y = Trilu(x) }',
    /^ONNX Runtime has no kernel for Trilu of opset 14/,
  ],
  [
    'types that the operator does not take',
    '<ir_version: 8, opset_import: ["": 17]> g (string[2] x) => (string[2] y) { y = Relu(x) }',
    /^the file may be truncated/,
  ],
])('%s: the next step fits the reason', async (_, text, help) => {
  await expect(openSession(encodeModel(parseModelText(text)), { optimization: 'disabled' })).rejects.toMatchObject({
    code: 'model-load',
    help: expect.stringMatching(help),
  });
});
