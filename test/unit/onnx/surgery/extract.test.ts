/** Tests of the extraction of parts of a model. */
import { checkModel } from '../../../../src/onnx/check/check-model.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { extractSubgraph } from '../../../../src/onnx/surgery/extract.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { printGraph, printModel } from '../../../../src/onnx/text/print.js';
import { failureOf } from '../../../support/error-code.js';

const WHOLE = `<ir_version: 10, opset_import: ["": 17], metadata_props: ["k": "v"]>
g (float[4] image, bool flag) => (float[4] y, float[4] z)
<float[4] w = {1, 2, 3, 4}, float[4] u = {5, 6, 7, 8}, float[4] a, float[2] s1, float[2] s2, float[4] other>
{
  a = Add(image, w)
  s1, s2 = Split(a)
  other = Mul(a, u)
  joined = Concat<axis = 0>(s2, s1)
  y = If<then_branch = t () => (float[4] p) { p = Neg(other) }, else_branch = e () => (float[4] q) { q = Mul(joined, u) }>(flag)
  z = Relu(image)
}`;

describe('extracting a part', () => {
  it('extracts the nodes, initializers and types between the named values, and does not change the model', () => {
    const whole = parseModelText(WHOLE);
    const before = printModel(whole);

    const part = extractSubgraph(whole, { inputs: ['image'], outputs: ['other', 'a'] });

    expect(printGraph(part.graph)).toBe(`g (float[4] image) => (float[4] other, float[4] a)
<
  float[4] w = {1.0, 2.0, 3.0, 4.0},
  float[4] u = {5.0, 6.0, 7.0, 8.0}
>
{
  a = Add(image, w)
  other = Mul(a, u)
}
`);
    expect(part.metadata).toEqual(new Map([['k', 'v']]));
    expect(checkModel(part)).toEqual([]);
    expect(printModel(whole)).toBe(before);
  });

  it('follows values that subgraphs of a node read', () => {
    const part = extractSubgraph(parseModelText(WHOLE), { inputs: ['a', 'flag'], outputs: ['y'] });

    expect([...part.graph.nodes.values()].map(node => node.opType)).toEqual(['Split', 'Mul', 'Concat', 'If']);
    expect(checkModel(part)).toEqual([]);
  });

  it('keeps a node with an unread output if one of its outputs becomes an input', () => {
    const part = extractSubgraph(parseModelText(WHOLE), { inputs: ['a', 's1'], outputs: ['joined'] });

    expect(printGraph(part.graph)).toContain('s1_unread, s2 = Split(a)');
    expect(checkModel(part)).toEqual([]);
  });

  it('makes a named initializer an input', () => {
    const part = extractSubgraph(parseModelText(WHOLE), { inputs: ['image', 'w'], outputs: ['a'] });

    expect(printGraph(part.graph)).toContain('g (float[4] image, float[4] w) => (float[4] a)\n{');
  });

  it.each([
    [{ inputs: ['imag'], outputs: ['zz', 'flat'] }, 'unknown-value', 'no value "imag" (did you mean "image"?), no value "zz"'],
    [{ inputs: ['a'], outputs: ['y', 'z'] }, 'cut-open', '"y" needs "flag"; "z" needs "image"'],
    [{ inputs: ['image', 'image'], outputs: ['a'] }, 'cut-repeated', '"image" is named twice'],
  ])('refuses %j', async (cut, code, message) => {
    const failure = await failureOf(() => extractSubgraph(parseModelText(WHOLE), cut));

    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
  });
});

describe('sparse initializers', () => {
  it('are there without being inputs of a part', () => {
    const model = parseModelText('g (float[4] x) => (float[4] y) <float[4] a> { a = Relu(x)  y = Add(a, w) }');
    const values = { name: 'w', dataType: 1, dims: BigInt64Array.of(0n) };
    const sparse = { values, indices: { dataType: 7, dims: BigInt64Array.of(0n) }, dims: BigInt64Array.of(4n) };
    model.graph.unknown = [encodeMessage('GraphProto', { sparseInitializer: [sparse] })];

    const part = extractSubgraph(model, { inputs: ['a'], outputs: ['y'] });

    expect(part.graph.nodes.size).toBe(1);
    expect(checkModel(part)).toEqual([]);
  });
});
