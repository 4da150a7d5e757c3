/** Errors of outputs, before and after a recovery. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ComparedModel, describeOutputs, measureOutputSqnr } from '../../../../src/quant/recovery/output-errors.js';
import { countOpenSessions } from '../../../support/count-sessions.js';
import { failureOf } from '../../../support/error-code.js';
import { givenFolder } from '../../../support/run-stage.js';
import { floats, randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

const folder = givenFolder('output-errors');
const makeFolder = async (name: string): Promise<string> => {
  await mkdir(join(folder.path, name));
  return join(folder.path, name);
};

it('leave no session open where a model cannot run', async () => {
  const model = smallModel({
    inputs: { x: ['float32', [1, 4]] },
    constants: { w: randomConstant([4, 3], 1) },
    nodes: [{ op: 'MatMul', in: ['x', 'w'], out: ['y'] }],
    outputs: ['y'],
  });
  // The second sample has another form than the session of the first.
  const samples = [4, 5].map(size => async () => ({ x: randomFloats([1, size], 1) }));
  const open = await countOpenSessions(async () => {
    const failure = await failureOf(async () => measureOutputSqnr({ model, samples }, { model, samples }, await makeFolder('failing')));
    expect(failure.code).toBe('model-run');
  });
  expect(open).toBe(0);
});

it('has one model open at a time', async () => {
  const order: string[] = [];
  const model = smallModel({
    inputs: { x: ['float32', [1, 4]] },
    constants: { w: randomConstant([4, 3], 1) },
    nodes: [{ op: 'MatMul', in: ['x', 'w'], out: ['y'] }],
    outputs: ['y'],
  });
  const compared = (name: string): ComparedModel => ({
    model,
    samples: [0, 1].map(sample => async () => {
      order.push(`${name}${sample}`);
      return { x: randomFloats([1, 4], sample) };
    }),
  });
  expect(await measureOutputSqnr(compared('float'), compared('quantized'), await makeFolder('one-open'))).toEqual({ y: null });
  expect(order).toEqual(['float0', 'float1', 'quantized0', 'quantized1']);
});

it('noise without signal, and what is not finite on one side alone, are no absence of error', async () => {
  const scaledBy = (factor: number): ComparedModel => ({
    model: smallModel({
      inputs: { x: ['float32', [1, 4]] },
      constants: { w: floats([4], [factor, factor, factor, factor]) },
      nodes: [{ op: 'Mul', in: ['x', 'w'], out: ['y'] }],
      outputs: ['y'],
    }),
    samples: [async () => ({ x: randomFloats([1, 4], 1) })],
  });
  const measure = async (float: number, quantized: number, name: string) =>
    measureOutputSqnr(scaledBy(float), scaledBy(quantized), await makeFolder(name));
  expect(await measure(0, 1, 'no-signal')).toEqual({ y: -998 });
  expect(await measure(1, Number.NaN, 'no-number')).toEqual({ y: -998 });
  expect(describeOutputs({ y: 20 }, { y: -998 }, 'correction', 'another').map(([kind]) => kind)).toEqual(['info', 'warning']);
});
