/** Tests of the checks against operator schemas. */
import { checkModel, findNewProblem, type ModelProblem } from '../../../../src/onnx/check/check-model.js';
import { listUnchecked } from '../../../../src/onnx/check/operators.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { type AttributeProto, AttributeType, type FunctionProto, type NodeProto } from '../../../../src/onnx/proto/generated/messages.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';

const check = (text: string): readonly ModelProblem[] => checkModel(parseModelText(text, { opset: 13 }));

describe('checking operators', () => {
  it.each([
    ['unknown-operator', 'g (float x) => (float y) { [n] y = Rellu(x) }', 'Rellu "n": ai.onnx has no operator Rellu', 'did you mean Relu?'],
    [
      'operator-too-new',
      'g (float x) => (float y) { y = HardSwish(x) }',
      'HardSwish "y": HardSwish needs operator set 14 of ai.onnx, the model imports 13',
      '`tanren onnx convert --opset 14` may convert the model',
    ],
    [
      'operator-deprecated',
      'g (float x, float s) => (float y) { y = Upsample(x, s) }',
      'Upsample "y": Upsample was removed in operator set 10 of ai.onnx, the model imports 13',
      undefined,
    ],
    ['input-count', 'g (float x) => (float y) { y = Conv(x) }', 'Conv "y" has 1 input, expected 2 to 3: X, W, B?', undefined],
    ['input-count', 'g (float x) => (float y) { y = Relu(x, x) }', 'Relu "y" has 2 inputs, expected 1: X', undefined],
    ['input-count', 'g () => (float y) { y = Concat<axis = 0>() }', 'Concat "y" has 0 inputs, expected 1 or more: inputs…', undefined],
    ['output-count', 'g (float x) => (float y) { y, z = Relu(x) }', 'Relu "y" has 2 outputs, expected 1: Y', undefined],
    ['missing-input', 'g (float x) => (float y) { y = Conv(, x) }', 'Conv "y" has no input 0, X, which is not optional', undefined],
    [
      'missing-attribute',
      'g (float x) => (float y) { y = Concat(x, x) }',
      'Concat "y" has no attribute "axis" (int), which Concat of operator set 13 requires',
      undefined,
    ],
    [
      'unknown-attribute',
      'g (float x) => (float y) { y = MaxPool<kernel_shape = [1, 1], stride = [2, 2]>(x) }',
      'MaxPool "y" has the attribute "stride", which MaxPool of operator set 12 does not have',
      'did you mean "strides"?',
    ],
    [
      'unknown-attribute',
      'g (float x) => (float y) { y = Squeeze<axes = [0]>(x) }',
      'Squeeze "y" has the attribute "axes", which Squeeze of operator set 13 does not have',
      'the attribute exists in older operator sets only; it may have become an input',
    ],
    [
      'unknown-attribute',
      'g (float x) => (float y) { y = AveragePool<kernel_shape = [1, 1], dilations = [2, 2]>(x) }',
      'AveragePool "y" has the attribute "dilations"',
      'the attribute exists from operator set 19 on',
    ],
    [
      'attribute-kind',
      'g (float x) => (float y) { y = LeakyRelu<alpha = 1>(x) }',
      'LeakyRelu "y": attribute "alpha" has kind int, LeakyRelu of operator set 6 expects float',
      undefined,
    ],
    [
      'input-type',
      'g (int64[1] x, int64 w) => (int64 y) { [c] y = Conv(x, w) }',
      'Conv "c": its input X, "x", is int64; Conv of operator set 11 takes float16, float32, float64',
      undefined,
    ],
    [
      'input-type',
      'g (bfloat16 x) => (bfloat16 y) { y = GlobalAveragePool(x) }',
      'its input X, "x", is bfloat16',
      'operator set 22 supports it: `tanren onnx convert --opset 22` may convert the model',
    ],
    [
      'type-conflict',
      'g (float x, double z) => (float y) { y = Add(x, z) }',
      'Add "y": its input A, "x", is float32, its input B, "z", is float64; they must have the same type',
      undefined,
    ],
    [
      'type-conflict',
      'g (float x) => (double y) { [r] y = Relu(x) }',
      'Relu "r": its input X, "x", is float32, its output Y, "y", is float64; they must have the same type',
      undefined,
    ],
    [
      'output-type',
      'g (float x) => (float y) { y = Shape(x) }',
      'Shape "y": its output shape, "y", is float32; Shape of operator set 13 returns int64',
      undefined,
    ],
  ])('finds %s in %s', (code, text, message, help) => {
    const [problem, ...others] = check(text);

    expect(others).toEqual([]);
    expect(problem?.code).toBe(code);
    expect(problem?.message).toContain(message);
    expect(problem?.help).toBe(help);
  });

  it('asks for one value of a Constant, and for sub-graphs with the ends of their node', () => {
    const problems = check(`g (bool c, float x, int64 n) => (y) { k = Constant()  m = Constant<value_int = 1, value_float = 1.0>()
      y = If<then_branch = t (float i) => (a) { a = Neg(x) }, else_branch = e () => (b, d) { b = Neg(x)  d = Neg(b) }>(c)
      z = Loop<body = l (int64 i, bool s) => (s) { h = Neg(x) }>(n, c)
      w = Scan<num_scan_inputs = 1, body = q (float p) => (float o, float r) { o = Neg(p)  r = Neg(p) }>(x, x) }`);

    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'missing-attribute: Constant "k" has no value attribute',
      'unknown-attribute: Constant "m" has several value attributes: value_int, value_float',
      'input-count: If "y": its then_branch has 1 input, expected 0',
      'output-count: If "y": its else_branch has 2 outputs, expected 1',
      'output-count: Loop "z": its body has 1 output, expected 2',
      'input-count: Scan "w": its body has 1 input, expected 2',
      'output-count: Scan "w": its body has 2 outputs, expected 1',
    ]);
  });

  it.each([
    [
      'g (float x, bool c) => (float y) { [i] y = If<then_branch = t () => (float a) { a = Neg(x) }, else_branch = e () => (int64 b) { b = Cast<to = 7>(x) }>(c) }',
      'If "i": its output, "y", is float32, that of its else_branch, "b", is int64; they must have the same type',
    ],
    [
      'g (float x, int64 n) => (y) { [l] y = Loop<body = b (int64 i, bool on, float p) => (bool on, int64 q) { q = Cast<to = 7>(p) }>(n,, x) }',
      'Loop "l": its input, "x", is float32, that of its body, "q", is int64; they must have the same type',
    ],
    [
      'g (float s, int32[3] x) => (y, z) { [s] y, z = Scan<num_scan_inputs = 1, body = b (float p, int64 e) => (float q, int64 r) { q = Neg(p) r = Abs(e) }>(s, x) }',
      'Scan "s": its input, "x", is int32, that of its body, "e", is int64; they must have the same type',
    ],
  ])('wants the ends of sub-graphs to be of the types of their node: %s', (text, message) => {
    expect(check(text)).toEqual([{ code: 'type-conflict', message }]);
  });

  it('propagates types from node to node if the file states none', () => {
    const [problem, ...others] = check('g (float x) => (z) { i = Cast<to = 7>(x)  d = Identity(i)  z = Add(d, x) }');

    expect(others).toEqual([]);
    expect(problem?.message).toContain('Add "z": its input A, "d", is int64, its input B, "x", is float32');
  });

  it('looks into sub-graphs, which know the types around them', () => {
    const problems = check(`g (bool c, float x, int64 i) => (y) {
      y = If<then_branch = t () => (a) { a = Add(x, i) }, else_branch = e () => (b) { b = Reluu(x) }>(c)  z = Conv(y) }`);

    expect(problems.map(({ code }) => code)).toEqual(['type-conflict', 'unknown-operator', 'input-count']);
  });

  it('knows the types of sequences, optionals and maps', () => {
    const problems = check('g (float x, int64 i) => (y) { s = SequenceConstruct(x)  y = SequenceInsert(s, i) n = SequenceAt(x, i) }');

    expect(problems.map(({ code, message }) => `${code}: ${message.slice(0, 48)}`)).toEqual([
      'input-type: SequenceAt "n": its input input_sequence, "x", i',
    ]);
  });

  it('ignores attributes that begin with two underscores', () => {
    expect(check('g (float x) => (float y) { y = Relu<__note = 1>(x) }')).toEqual([]);
  });

  it('accepts every operator of the text below', () => {
    expect(
      check(`g (float[1, 1, 4, 4] x, bool c) => (float[] y) <float[1, 1, 2, 2] w = {1, 2, 3, 4}, uint8 z = {3}, float s = {0.5}> {
        h = Conv(x, w)  p, i = MaxPool<kernel_shape = [2, 2]>(h)  k = Clip(p, , s)  q = QuantizeLinear(k, s, z)  d = DequantizeLinear(q, s, z)
        l = If<then_branch = t () => (a) { a = Neg(d) }, else_branch = e () => (b) { b = Relu(d) }>(c)  j = Cast<to = 1>(i)  y = Mul(l, j) }`),
    ).toEqual([]);
  });

  it('reports what it could not check', () => {
    const model = parseModelText(
      '<opset_import: ["": 40, "com.acme": 1]> g (float x) => (float y) { h = Relu(x)  k = com.acme.Fast(h)  y = com.acme.Fast(k) }',
    );

    expect(checkModel(model)).toEqual([]);
    expect(listUnchecked(model)).toEqual([
      { domain: 'ai.onnx', nodes: 1, reason: 'its operator sets are known up to 28' },
      { domain: 'com.acme', nodes: 2, reason: 'its operators are not known' },
    ]);
  });

  it('distinguishes a new problem from an old one, also under another name', () => {
    const before = check('g (float x) => (float y) { [n] y = Rellu(x) }');
    const renamed = check('g (float x) => (float y) { [m] y = Rellu(x) }');
    const worse = check('g (float x) => (float y) { [m] h = Rellu(x)  y = Rellu(h) }');

    expect(findNewProblem(before, renamed)).toBeUndefined();
    expect(findNewProblem(before, worse)?.code).toBe('unknown-operator');
    expect(findNewProblem([], before)?.message).toContain('Rellu');
  });
});

describe('checking functions of a model', () => {
  const CALL = '<ir_version: 10, opset_import: ["": 13, "own": 1]> g (float x) => (float y) { [call] y = own.Scaled<factor = 2.0>(x) }';
  const SCALED: FunctionProto = {
    name: 'Scaled',
    domain: 'own',
    input: ['a'],
    output: ['b'],
    attribute: ['factor'],
    opsetImport: [{ domain: '', version: 13n }],
    node: [{ opType: 'LeakyRelu', input: ['a'], output: ['b'], attribute: [reference('alpha', AttributeType.FLOAT, 'factor')] }],
  };

  function reference(name: string, type: number, refAttrName: string): AttributeProto {
    return { name, type, refAttrName };
  }

  function checkWith(text: string, ...functions: readonly FunctionProto[]): readonly string[] {
    const model = parseModelText(text);
    model.unknown = [...model.unknown, ...functions.map(one => encodeMessage('ModelProto', { functions: [one] }))];
    return checkModel(model).map(({ code, message }) => `${code}: ${message}`);
  }

  const withNode = (node: NodeProto): FunctionProto => ({ ...SCALED, node: [node] });

  it('finds no problem in correct functions', () => {
    expect(checkWith(CALL, SCALED)).toEqual([]);
  });

  it.each([
    [
      'an unknown operator',
      withNode({ opType: 'Leaky', input: ['a'], output: ['b'] }),
      'unknown-operator: function own.Scaled: Leaky "b": ai.onnx has no',
    ],
    [
      'a value that nothing defines',
      withNode({ opType: 'Relu', input: ['q'], output: ['b'] }),
      'undefined-value: function own.Scaled: Relu "b" reads "q", which is undefined',
    ],
    [
      'a reference of another kind',
      withNode({ ...SCALED.node?.[0], attribute: [reference('alpha', AttributeType.INT, 'factor')] }),
      'attribute-kind: function own.Scaled: LeakyRelu "b": attribute "alpha" has kind int',
    ],
    [
      'a reference to an attribute that it has not',
      withNode({ ...SCALED.node?.[0], attribute: [reference('alpha', AttributeType.FLOAT, 'slope')] }),
      'attribute: function own.Scaled: LeakyRelu "b": attribute "alpha" refers to "slope", which the function does not have',
    ],
    [
      'an operator of a domain that it does not import',
      withNode({ opType: 'Gelu', domain: 'com.microsoft', input: ['a'], output: ['b'] }),
      'opset-missing: function own.Scaled: Gelu "b" has the domain "com.microsoft"',
    ],
    [
      'itself',
      { ...withNode({ opType: 'Scaled', domain: 'own', input: ['a'], output: ['b'] }), opsetImport: [{ domain: 'own', version: 1n }] },
      'function-cycle: functions call each other in a cycle: own.Scaled → own.Scaled',
    ],
  ])('finds in a function %s', (_, one, expected) => {
    const [problem, ...others] = checkWith(CALL, one);

    expect(others).toEqual([]);
    expect(problem).toContain(expected);
  });

  it('finds calls with more inputs, outputs and attributes than the function has', () => {
    const text = CALL.replace('y = own.Scaled<factor = 2.0>(x)', 'y, z = own.Scaled<factr = 2.0>(x, x)');

    expect(checkWith(text, SCALED)).toEqual([
      'input-count: Scaled "call" has 2 inputs, function own.Scaled takes 1',
      'output-count: Scaled "call" has 2 outputs, function own.Scaled takes 1',
      'unknown-attribute: Scaled "call" has the attribute "factr", which function own.Scaled does not have',
    ]);
  });

  it('finds two functions with the same name, and an unreadable function', () => {
    expect(checkWith(CALL, SCALED, SCALED)).toEqual(['duplicate-function: the model has the function own.Scaled twice']);

    const model = parseModelText(CALL);
    model.unknown = [Uint8Array.of(0xca, 0x01, 0x02, 0x0a, 0x7f)];
    expect(checkModel(model).map(({ code }) => code)).toEqual(['malformed-field']);
  });
});
