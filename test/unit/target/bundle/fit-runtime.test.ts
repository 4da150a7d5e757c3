import { int } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { fitRuntime, isReadable } from '../../../../src/target/bundle/fit-runtime.js';
import { findRuntime, listRyzenAiOptions, type RuntimeLimits } from '../../../../src/target/bundle/provider-options.js';
import { failureOf } from '../../../support/error-code.js';
import { smallQdqModel } from '../../../support/qdq-model.js';
import { differingOutputs, runWhole } from '../../../support/run-parts.js';
import { randomFloats, smallModel } from '../../../support/small-model.js';

function limitsOf(version: string): RuntimeLimits {
  const limits = findRuntime(version);
  if (limits === undefined) throw new Error(`no limits of ${version}`);
  return limits;
}

const gelu = (): Model =>
  smallModel({ opset: 20, inputs: { x: ['float32', [1, 4]] }, nodes: [{ op: 'Gelu', in: ['x'], out: ['y'] }], outputs: ['y'] });

const reduce = (): Model =>
  smallModel({
    opset: 20,
    inputs: { x: ['float32', [1, 4]] },
    constants: { axes: { dtype: 'int64', dims: [1], bytes: new Uint8Array(BigInt64Array.of(1n).buffer) } },
    nodes: [{ op: 'ReduceMax', in: ['x', 'axes'], out: ['y'], attributes: { keepdims: int(1) } }],
    outputs: ['y'],
  });

describe('a model for a version of Ryzen AI', () => {
  it('gets IR version 8 if its operator set allows that, without a change of the given model', () => {
    const model = smallQdqModel();
    model.irVersion = 10;
    const fitted = fitRuntime('m', model, limitsOf('1.8'));
    expect([fitted.irVersion, fitted.opsets.get(''), model.irVersion]).toEqual([8, 17, 10]);
    for (const { version } of listRyzenAiOptions()) expect(isReadable(fitted, limitsOf(version))).toBe(true);
  });

  it('stays the same object if nothing changes', () => {
    const model = smallQdqModel();
    model.irVersion = 8;
    expect(fitRuntime('m', model, limitsOf('1.1'))).toBe(model);
  });

  it('is converted to operator set 17 if the version does not read its own, and computes the same', async () => {
    const model = reduce();
    model.irVersion = 10;
    const fitted = fitRuntime('m', model, limitsOf('1.1'));
    expect([fitted.irVersion, fitted.opsets.get('')]).toEqual([8, 17]);
    const feeds = { x: randomFloats([1, 4], 3) };
    expect(differingOutputs(await runWhole(model, feeds, 'basic'), await runWhole(fitted, feeds, 'basic'))).toEqual([]);
    const kept = fitRuntime('m', model, limitsOf('1.4'));
    expect([kept.irVersion, kept.opsets.get('')]).toEqual([9, 20]);
    expect(isReadable(kept, limitsOf('1.1'))).toBe(false);
  });

  it('is refused if its operator set cannot be converted', async () => {
    const { code, message } = await failureOf(() => fitRuntime('m', gelu(), limitsOf('1.2')));
    expect(code).toBe('runtime-too-old');
    expect(message).toContain('model "m" has operator set 20, but ONNX Runtime 1.15.1 of version 1.2 reads operator sets up to 19');
  });

  it('is refused if its types need a newer IR version', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['uint4', [2]] },
      nodes: [{ op: 'Identity', in: ['x'], out: ['y'] }],
      outputs: ['y'],
    });
    model.irVersion = 10;
    expect(await failureOf(() => fitRuntime('m', model, limitsOf('1.1')))).toMatchObject({
      code: 'runtime-too-old',
      message: 'model "m" needs IR version 10, but version 1.1 reads IR versions up to 8',
    });
  });
});

it('every version with options has limits and a source', () => {
  for (const { version } of listRyzenAiOptions()) expect(limitsOf(version).source).toMatchObject({ ref: expect.any(String) });
});
