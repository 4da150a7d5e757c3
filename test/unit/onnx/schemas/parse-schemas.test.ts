/** Tests of the operator schemas. */
import { findNewestOpset, findOperator } from '../../../../src/onnx/schemas/find-operator.js';
import { countAllowed, type OperatorSchema } from '../../../../src/onnx/schemas/operator-schema.js';
import { schemasByDomain } from '../../../../src/onnx/schemas/parse-schemas.js';

function getSchema(domain: string, name: string, opset: number): OperatorSchema {
  const found = findOperator(domain, name, opset);
  if (found.kind !== 'found') throw new Error(`${name} is ${found.kind}`);
  return found.schema;
}

describe('the schemas of operators', () => {
  /** onnx 1.23 counts 629 and 25, with 3 and 2 deprecated; ONNX Runtime 1.30 has 127 of its own. */
  it('are read of every line of the table', () => {
    const counts = [...schemasByDomain()].map(([domain, { operators }]) => {
      const schemas = [...operators.values()].flat().filter(version => version.kind === 'defined');
      for (const version of schemas) expect(countAllowed(version.schema().inputs).least).toBeGreaterThanOrEqual(0);
      return [domain, operators.size, schemas.length];
    });

    expect(counts).toEqual([
      ['', 203, 626],
      ['ai.onnx.ml', 19, 23],
      ['ai.onnx.preview', 1, 1],
      ['ai.onnx.preview.training', 4, 4],
      ['com.microsoft', 127, 127],
    ]);
    expect(findNewestOpset('')).toBe(28);
  });

  /** Conv's page in the ONNX operators document. */
  it('describe inputs, outputs and attributes of Conv', () => {
    const { inputs, outputs, attributes, since } = getSchema('', 'Conv', 13);

    expect(since).toBe(11);
    expect(inputs.map(({ name, occurs }) => `${name} ${occurs.kind}`)).toEqual(['X single', 'W single', 'B optional']);
    expect(countAllowed(inputs)).toEqual({ least: 2, most: 3 });
    expect([...(inputs[0]?.types ?? [])]).toEqual(['float16', 'float32', 'float64']);
    expect(outputs.map(({ variable }) => variable)).toEqual(['T']);
    expect(attributes.get('group')).toEqual({ kind: 'int', required: false });
    expect([...attributes.keys()]).toEqual(['auto_pad', 'dilations', 'group', 'kernel_shape', 'pads', 'strides']);
  });

  it('take a version that changes nothing but types from the one before', () => {
    expect(getSchema('', 'Conv', 22).since).toBe(22);
    expect(getSchema('', 'Conv', 22).inputs[0]?.types.has('bfloat16')).toBe(true);
    expect(getSchema('', 'Conv', 22).attributes).toEqual(getSchema('', 'Conv', 11).attributes);
  });

  it('know parameters that stand several times', () => {
    expect(countAllowed(getSchema('', 'Concat', 13).inputs)).toEqual({ least: 1, most: Number.POSITIVE_INFINITY });
    expect(countAllowed(getSchema('', 'Loop', 13).inputs)).toEqual({ least: 2, most: Number.POSITIVE_INFINITY });
    expect(getSchema('', 'If', 13).outputs[0]?.occurs).toEqual({ kind: 'variadic', least: 1, types: 'any-types' });
  });

  it.each([
    ['', 'Hardmaxx', 13, { kind: 'unknown' }],
    ['', 'HardSwish', 13, { kind: 'too-new', since: 14 }],
    ['', 'Upsample', 10, { kind: 'deprecated', since: 10 }],
    ['', 'Hardmaxx', 29, { kind: 'not-described' }],
    ['', 'ATen', 9, { kind: 'not-described' }],
    ['com.microsoft', 'NewerThanThisTable', 1, { kind: 'not-described' }],
    ['com.acme', 'Conv', 1, { kind: 'not-described' }],
    ['', 'constructor', 13, { kind: 'unknown' }],
  ])('say of %s %s in operator set %i: %j', (domain, name, opset, expected) => {
    expect(findOperator(domain, name, opset)).toMatchObject(expected);
  });
});
