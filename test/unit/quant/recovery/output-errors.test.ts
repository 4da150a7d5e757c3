/** Errors of outputs, before and after a recovery. */
import { join } from 'node:path';
import { measureOutputSqnr } from '../../../../src/quant/recovery/output-errors.js';
import { countOpenSessions } from '../../../support/count-sessions.js';
import { failureOf } from '../../../support/error-code.js';
import { givenFolder } from '../../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

const folder = givenFolder('output-errors');

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
    const failure = await failureOf(() => measureOutputSqnr({ model, samples }, { model, samples }, join(folder.path)));
    expect(failure.code).toBe('model-run');
  });
  expect(open).toBe(0);
});
