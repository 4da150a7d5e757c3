/** Tests of the content digest of models. */
import { digestModelContent } from '../../../../src/onnx/analysis/content-digest.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';

const digestOf = (text: string, opset = 17): string => digestModelContent(parseModelText(text, { opset }));

const BASE = `g (float[N, 4] x, float[N, 4] k) => (float[N, 4] y, float[N, 4] z) <float[4] w = {1, 2, 3, 4}> {
  h = Add(x, w)
  m = Mul(k, w)
  y = LeakyRelu<alpha = 0.5, beta = 1>(h)
  z = Sub(h, m)
}`;

describe('the digest of what a model computes', () => {
  it.each([
    [
      'other names of nodes, values, sizes and graph',
      BASE.replaceAll(/\b([xkwhmyzg])\b/g, 'other_$1')
        .replaceAll('N,', 'Batch,')
        .replace('other_h =', '[add] other_h ='),
    ],
    [
      'another order of nodes and attributes',
      `g (float[N, 4] x, float[N, 4] k) => (float[N, 4] y, float[N, 4] z) <float[4] w = {1, 2, 3, 4}> {
         m = Mul(k, w) h = Add(x, w) z = Sub(h, m) y = LeakyRelu<beta = 1, alpha = 0.5>(h) }`,
    ],
    ['value types between nodes', BASE.replace('<float[4] w', '<float[N, 4] h, float[4] w')],
    [
      'producer, metadata and doc string',
      `<ir_version: 9, opset_import: ["": 17], producer_name: "p", doc_string: "d", metadata_props: ["a": "b"]> ${BASE}`,
    ],
    ['left-out inputs at the end', BASE.replace('(x, w)', '(x, w, , )')],
  ])('ignores %s', (_, text) => {
    expect(digestOf(text)).toBe(digestOf(BASE));
  });

  it.each([
    ['a weight', BASE.replace('3, 4}', '3, 5}')],
    ['the shape of a weight', BASE.replace('float[4] w', 'float[1, 4] w')],
    ['the type of a weight', BASE.replace('float[4] w', 'int32[4] w')],
    ['an attribute', BASE.replace('0.5', '0.25')],
    ['the kind of an attribute', BASE.replace('beta = 1', 'beta = 1.0')],
    ['an operator', BASE.replace('Sub(', 'Div(')],
    ['the domain of an operator', BASE.replace('Sub(', 'com.microsoft.Sub(')],
    ['a connection', BASE.replace('Sub(h, m)', 'Sub(m, h)')],
    ['the order of inputs', BASE.replace('(float[N, 4] x, float[N, 4] k)', '(float[N, 4] k, float[N, 4] x)')],
    ['the order of outputs', BASE.replace('(float[N, 4] y, float[N, 4] z)', '(float[N, 4] z, float[N, 4] y)')],
    ['the type of an input', BASE.replace('(float[N, 4] x', '(float16[N, 4] x')],
    ['a size of an input', BASE.replace('(float[N, 4] x', '(float[2, 4] x')],
    ['which sizes have one name', BASE.replace('float[N, 4] k)', 'float[M, 4] k)')],
    ['a node that nothing reads', BASE.replace('z = Sub', 'unread = Neg(h) z = Sub')],
    ['a left-out input in the middle', BASE.replace('(x, w)', '(x, , w)')],
    ['an output that is asked for', BASE.replace('h = Add', 'h, h2 = Add')],
  ])('changes with %s', (_, text) => {
    expect(digestOf(text)).not.toBe(digestOf(BASE));
  });

  it('changes with the operator set', () => {
    expect(digestOf(BASE, 18)).not.toBe(digestOf(BASE, 17));
  });

  it('covers subgraphs of nodes, with the outer values that they read', () => {
    const branch = (body: string): string =>
      `g (bool c, float x, float k) => (float y) { a = Relu(x) b = Neg(x) y = If<then_branch = t () => (float r) { ${body} }>(c) }`;

    expect(digestOf(branch('r = Add(a, k)'))).toBe(digestOf(branch('r = Add(a, k)').replaceAll(/\b(a|r)\b/g, '$1_')));
    expect(digestOf(branch('r = Add(a, k)'))).not.toBe(digestOf(branch('r = Add(b, k)')));
    expect(digestOf(branch('r = Add(a, k)'))).not.toBe(digestOf(branch('r = Mul(a, k)')));
  });

  it('distinguishes weights of −0 and 0, because their bytes differ', () => {
    expect(digestOf(BASE.replace('{1,', '{0,'))).not.toBe(digestOf(BASE.replace('{1,', '{-0.0,')));
  });
});
