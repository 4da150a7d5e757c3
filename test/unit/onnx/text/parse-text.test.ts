/** Tests of the text form of models. */
import { findValueByName } from '../../../../src/onnx/ir/edit.js';
import type { Constant, Model, Node } from '../../../../src/onnx/ir/model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { printModel } from '../../../../src/onnx/text/print.js';
import { failureOf } from '../../../support/error-code.js';

const only = (model: Model): Node => {
  const [node] = model.graph.nodes.values();
  if (node === undefined) throw new Error('no node');
  return node;
};

const bytesOf = (constant: Constant | undefined): number[] | undefined =>
  constant !== undefined && 'bytes' in constant ? [...constant.bytes] : undefined;

describe('the text form', () => {
  it('declares inputs and outputs with sizes, names of sizes, unknown sizes and unknown rank', () => {
    const { graph } = parseModelText('g (float[1, N, ?] x, int64[] r, double s) => (float[1] y) { y = F(x, r, s) }');

    expect(graph.inputs.map(id => graph.values.get(id)?.type)).toEqual([
      { kind: 'tensor', dtype: 'float32', dims: [1, 'N', undefined] },
      { kind: 'tensor', dtype: 'int64', dims: undefined },
      { kind: 'tensor', dtype: 'float64', dims: [] },
    ]);
  });

  it('omits empty inputs and outputs', () => {
    const node = only(parseModelText('g (float x) => (float y) { y, , z = com.microsoft.F(x, , x) }'));

    expect(node).toMatchObject({ opType: 'F', domain: 'com.microsoft' });
    expect(node.inputs.map(id => id !== undefined)).toEqual([true, false, true]);
    expect(node.outputs.map(id => id !== undefined)).toEqual([true, false, true]);
  });

  it('infers the type of an attribute from its value, or reads it', () => {
    const { attributes } = only(
      parseModelText(
        'g () => (float y) { [n] y = F<a = 1, b = 1.5, c = "s", d = [1, 2], e = [1.0, 2], f: ints = [], g: float = 2, h = int8[2] {-1, 2}, i: int = @j>() }',
      ),
    );

    expect([...attributes].map(([name, { kind }]) => [name, kind])).toEqual(
      Object.entries({ a: 'int', b: 'float', c: 'string', d: 'ints', e: 'floats', f: 'ints', g: 'float', h: 'tensor', i: 'ref' }),
    );
    expect(attributes.get('e')).toEqual({ kind: 'floats', value: [1, 2] });
    expect(attributes.get('h')).toMatchObject({ value: { dtype: 'int8', dims: [2], bytes: Uint8Array.of(255, 2) } });
  });

  // The bytes are those that the formats' definitions give: binary32, binary16, bfloat16, two's complement, low nibble first.
  it.each([
    ['float[2]', '1, -2.5', [0, 0, 128, 63, 0, 0, 32, 192]],
    ['float16[2]', '1, inf', [0, 60, 0, 124]],
    ['bfloat16[1]', '1', [128, 63]],
    ['int64[1]', '-2', [254, 255, 255, 255, 255, 255, 255, 255]],
    ['uint64[1]', '18446744073709551615', [255, 255, 255, 255, 255, 255, 255, 255]],
    ['int4[3]', '-1, 1, 7', [0x1f, 0x07]],
    ['bool[2]', 'true, false', [1, 0]],
  ])('writes the elements of %s {%s} as bytes', (type, elements, bytes) => {
    const { graph } = parseModelText(`g () => (float y) <${type} c = {${elements}}> { y = F(c) }`);

    expect(bytesOf(findValueByName(graph, 'c')?.constant)).toEqual(bytes);
  });

  it('lets a node inside a graph attribute read values from outside', () => {
    const model = parseModelText(
      'g (bool c, float x) => (float y) { y = If<then_branch = t () => (float a) { a = Neg(x) }, else_branch = e () => (x) {}>(c) }',
    );

    const branch = only(model).attributes.get('then_branch');
    const inner = branch?.kind === 'graph' ? [...branch.value.nodes.values()][0] : undefined;
    expect(inner?.inputs).toEqual([findValueByName(model.graph, 'x')?.id]);
  });

  it('equals the printed text', () => {
    const text = `<ir_version: 10, opset_import: ["": 17, "com.microsoft": 1], producer_name: "tanren", metadata_props: ["k": "v"]>
main (float[N, 3] x, bool c) => (float[] "y:0")
<
  float[2] w = {0.1, -0.0},
  string[1] s = {"a\\"b"},
  float[N, 3] h
>
{
  [first] h = Relu(x)
  "y:0", , rest = com.microsoft.F<alpha = 1e-7, mode = "m", axes: ints = [], t = int64[2] named {1, -9223372036854775808}>(h, , w, s)
  z = If<then_branch = then () => (float a)
  {
    a = Neg(h)
  }>(c)
}
`;

    expect(printModel(parseModelText(text))).toBe(text);
  });

  it('shortens long constants when printing', () => {
    const model = parseModelText('g () => (float[3] y) <float[3] w = {1, 2, 3}> { y = Relu(w) }');

    expect(printModel(model, { maxElements: 2 })).toContain('float[3] w = {…}');
  });

  it.each([
    ['g () => (float y) {\n  y = F<a = []>() }', '2:13', 'needs a type'],
    ['g () => (float y) { y = F<a: ints = 3>() }', '1:37', 'type ints'],
    ['g () => (float y) { y = F(', '1:27', 'found the end of the text'],
    ['g () => (float y) { y = F(§) }', '1:27', 'unexpected character'],
    ['g () => (float y) <float[2] w = {1}> { y = F(w) }', '1:33', '2 elements, 1 are given'],
    ['g () => (float y) <int8[1] w = {300}> { y = F(w) }', '1:32', '300 is not a valid int8'],
    ['g () => (float y) <float[N] w = {1}> { y = F(w) }', '1:33', 'dims of a constant must be numbers'],
    ['<opset: 3> g () => (float y) { y = F() }', '1:2', 'a field of the model'],
  ])('refuses %j with its place', async (text, place, reason) => {
    const { code, message } = await failureOf(() => parseModelText(text));

    expect(code).toBe('model-text');
    expect(message).toContain(`model text ${place}:`);
    expect(message).toContain(reason);
  });
});
