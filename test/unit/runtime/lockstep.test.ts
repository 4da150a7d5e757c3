/** Two runs that visit pairs of values in lockstep. */
import type { Value, ValueId } from '../../../src/onnx/ir/model.js';
import type { Capture } from '../../../src/runtime/capture/capture.js';
import { type LockstepRun, runInLockstep } from '../../../src/runtime/compare/lockstep.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';

/** 12 MB: two of them fit the budget, the third makes a run wait. */
const BIG = 3 << 20;

/** A run that visits values in the order of `keys`, and reports its position. */
function scripted(keys: readonly string[], log: string[], name: string, failAt?: string): LockstepRun {
  const tensor: Tensor = makeTensor('float32', [BIG], new Float32Array(BIG));
  const capture: Capture = {
    async run(_feeds, visit) {
      for (const [index, key] of keys.entries()) {
        if (key === failAt) throw new Error(`no ${key}`);
        log.push(`${name} ${key}`);
        await visit({ id: index as ValueId } as Value, tensor);
      }
    },
    close: async () => undefined,
  };
  return { capture, feeds: {}, keys: new Map(keys.map((key, index) => [index as ValueId, key])) };
}

describe('two runs in lockstep', () => {
  it('visit each pair once, and the run that is ahead waits', async () => {
    const log: string[] = [];
    const pairs: string[] = [];
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    await runInLockstep(scripted(keys, log, 'left'), scripted([...keys], log, 'right'), key => pairs.push(key));
    expect(pairs).toEqual(keys);
    const lead = log.map((_, at) => {
      const count = (name: string) => log.slice(0, at + 1).filter(line => line.startsWith(name)).length;
      return Math.abs(count('left') - count('right'));
    });
    expect(Math.max(...lead)).toBeLessThanOrEqual(3);
  });

  it.each([
    ['another order', ['h', 'g', 'f', 'e', 'd', 'c', 'b', 'a']],
    ['values that the other run does not have', ['x1', 'x2', 'x3', 'x4', 'x5', 'a', 'h']],
    ['no values', []],
  ])('end with %s', async (_what, keys) => {
    const pairs: string[] = [];
    await runInLockstep(scripted(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], [], 'left'), scripted(keys, [], 'right'), key =>
      pairs.push(key),
    );
    expect(pairs.sort()).toEqual(keys.filter(key => !key.startsWith('x')).sort());
  });

  it('end with the error of the run that fails', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const runs = runInLockstep(scripted(keys, [], 'left'), scripted(keys, [], 'right', 'b'), () => undefined);
    await expect(runs).rejects.toThrow('no b');
  });
});
