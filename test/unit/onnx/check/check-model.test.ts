/** Tests of the structural checks of models. */
import { assertModel, checkModel } from '../../../../src/onnx/check/check-model.js';
import { findValueByName } from '../../../../src/onnx/ir/edit.js';
import type { Model, Value } from '../../../../src/onnx/ir/model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { failureOf } from '../../../support/error-code.js';

const GOOD = `g (float[2] x, bool c) => (float[2] y, float[2] z) <float[2] w = {1, 2}> {
  y = Add(x, w)
  z = If<then_branch = t () => (float[2] a) { a = Neg(y) }, else_branch = e () => (float[2] b) { b = Relu(x) }>(c)
}`;

function getNamed(model: Model, name: string): Value {
  const value = findValueByName(model.graph, name);
  if (value === undefined) throw new Error(`no value ${name}`);
  return value;
}

describe('checking a model', () => {
  it('finds nothing in a well-formed one with sub-graphs', () => {
    expect(checkModel(parseModelText(GOOD))).toEqual([]);
  });

  it.each([
    ['undefined-value', 'g (float x) => (float y) { y = Add(x, q) }', 'Add "y" reads "q", which is undefined'],
    ['undefined-value', 'g (float x) => (float q) { y = Relu(x) }', 'graph "g": its output "q" is undefined'],
    ['duplicate-name', 'g (float x) => (float y) { y = Relu(x) y = Neg(x) }', 'two values named "y"'],
    [
      'duplicate-name',
      'g (bool c) => (float y) { k = RandomNormal<shape = [1]>() y = If<then_branch = t () => (float k) { k = RandomNormal<shape = [1]>() }, else_branch = e () => (float b) { b = Identity(k) }>(c) }',
      'graph "t" has a value "k", which an outer graph also has',
    ],
    ['node-order', 'g (float x) => (float y) { y = Relu(h) h = Neg(x) }', 'Relu "y" reads "h", which is the output of a later node'],
    ['cycle', 'g (float x) => (float y) { y = Add(x, h) h = Neg(y) }', 'Neg "h" → Add "y" → Neg "h"'],
    ['no-outputs', 'g (float x) => () { y = Relu(x) }', 'no outputs'],
    ['repeated-end', 'g (float x) => (y, y) { y = Relu(x) }', 'lists its output "y" twice'],
    ['untyped-input', 'g (x) => (float y) { y = Relu(x) }', 'input "x" has no type'],
    ['no-operator', 'g (float x) => (float y) { [n] y = ""(x) }', 'node "n" has no operator'],
    ['opset-missing', 'g (float x) => (float y) { y = my.domain.F(x) }', 'F "y" has the domain "my.domain"'],
    ['attribute', 'g (float x) => (float y) { y = Elu<alpha: float = @b>(x) }', 'attribute "alpha" refers to an attribute of a function'],
    ['attribute', 'g (float x) => (float y) { y = Elu<alpha: other = "0a05616c706861">(x) }', 'attribute "alpha" has no value'],
  ])('finds %s in %s', (code, text, message) => {
    const problems = checkModel(parseModelText(text));

    expect(problems.map(problem => problem.code)).toEqual([code]);
    expect(problems[0]?.message).toContain(message);
  });

  it('finds a constant whose bytes do not fit its shape', () => {
    const model = parseModelText(GOOD);
    getNamed(model, 'w').constant = { dtype: 'float32', dims: [2], bytes: new Uint8Array(7) };

    expect(checkModel(model)).toEqual([
      { code: 'constant-size', message: 'graph "g": initializer "w" (float32 [2]) needs 8 bytes, found 7' },
    ]);
  });

  it.each([
    [{ kind: 'tensor', dtype: 'int8', dims: [2] }, 'is declared as int8'],
    [{ kind: 'tensor', dtype: 'float32', dims: [3] }, 'is declared with shape [3]'],
  ] as const)('finds a constant that is declared as %j', (type, message) => {
    const model = parseModelText(GOOD);
    getNamed(model, 'w').type = type;

    expect(checkModel(model)).toEqual([{ code: 'constant-type', message: expect.stringContaining(message) }]);
  });

  it('finds a value with a second producer and a value that is an input too', () => {
    const model = parseModelText('g (float x) => (float y) { y = Relu(x) h = Neg(x) }');
    const neg = [...model.graph.nodes.values()][1];
    neg?.outputs.push(getNamed(model, 'y').id, getNamed(model, 'x').id);

    const problems = checkModel(model, 'structure');

    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['producer']));
    expect(problems.map(({ message }) => message).join('\n')).toContain('"y" is produced by Relu "y" and by Neg "h"');
    expect(problems.map(({ message }) => message).join('\n')).toContain('"x" is produced by Neg "h" and is also an input or initializer');
  });

  it('asserts with every problem', async () => {
    const { code, message } = await failureOf(() => assertModel(parseModelText('g (x) => (q) { y = Relu(x) }'), 'the part'));

    expect(code).toBe('model-invalid');
    expect(message).toContain('the part is not a valid model');
    expect(message).toContain('input "x" has no type');
    expect(message).toContain('its output "q" is undefined');
  });
});
