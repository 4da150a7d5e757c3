/** Tests that damaged model files give coded errors. */
import fc from 'fast-check';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { tryDamaged } from '../../../support/damaged-model.js';
import { damages } from '../../../support/mutate-bytes.js';

const MODELS = {
  convolution: `g (float[N, 1, 4, 4] x) => (float[] y) <float[1, 1, 2, 2] w = {1, 2, 3, 4}, string[2] s = {"a", "bc"}> {
    [c] h = Conv<strides = [2, 2], auto_pad = "VALID", alpha = 0.5, t = int8[2] {1, 2}>(x, w)  y = com.microsoft.F(h, , s) }`,
  branches: `g (bool c, float x) => (float y) {
    y = If<then_branch = t () => (float a) { a = Neg(x) }, else_branch = e () => (float b) { b = Loop<body = l (int64 i) => (i) {}>(x) }>(c) }`,
};

describe('a damaged model', () => {
  it.each(Object.entries(MODELS))('is decoded or refused with a code: %s', (_, text) => {
    const bytes = encodeModel(parseModelText(text));
    const outcomes = { decoded: 0, refused: 0 };

    fc.assert(
      fc.property(damages, damage => {
        outcomes[tryDamaged(bytes, damage)]++;
      }),
      { numRuns: 2000 },
    );

    expect(outcomes.decoded).toBeGreaterThan(50);
    expect(outcomes.refused).toBeGreaterThan(50);
  });

  it('is refused at every length short of the whole', () => {
    const bytes = encodeModel(parseModelText('g (float x) => (float y) { y = Relu(x) }'));
    const graphEnd = bytes.length - encodeModelTail();

    for (let length = 0; length < graphEnd; length++) expect(() => decodeModel(bytes.slice(0, length))).toThrow('not a');
  });
});

/** Bytes of the operator set import, the one field after the graph: without it a model is still decodable. */
function encodeModelTail(): number {
  return 4;
}
