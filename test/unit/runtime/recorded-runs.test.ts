/** Recorded runs of sessions: what is replayed is what was recorded, data types included, and another order is an error. */
import { decodeRuns, encodeRuns, recordRuns, replayRuns, sizeOfRuns } from '../../../src/runtime/session/recorded-runs.js';
import type { OpenModel, Session } from '../../../src/runtime/session/session.js';
import { decodeSafetensors, encodeSafetensors } from '../../../src/tensor/formats/safetensors.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';

const OPTIONS = { optimization: 'all' } as const;

/** Counts its runs: each output is the number of the run, in both types. */
function counting(): OpenModel {
  return async model => {
    let runs = 0;
    return {
      inputNames: ['x'],
      outputNames: ['float', 'integer', String(model)],
      async run() {
        runs++;
        return {
          float: makeTensor('float32', [2], Float32Array.of(runs, Number.NaN)),
          integer: makeTensor('int64', [1], BigInt64Array.of(2n ** 60n + BigInt(runs))),
        };
      },
      close: async () => undefined,
    };
  };
}

async function record() {
  const recorder = recordRuns(counting());
  const [a, b] = [await recorder.open('a', OPTIONS), await recorder.open('b', OPTIONS)];
  const outputs = [await a.run({}), await b.run({}), await a.run({})];
  return { runs: recorder.take(), outputs, recorder, a };
}

async function reopen(bytes: Uint8Array): Promise<readonly [Session, Session]> {
  const open = replayRuns(decodeRuns(bytes));
  return [await open('anything', OPTIONS), await open('', OPTIONS)];
}

describe('recorded runs', () => {
  it('are replayed in their order, bit for bit, with names and data types', async () => {
    const { runs, outputs } = await record();
    const [a, b] = await reopen(encodeRuns(runs));
    expect([a.inputNames, b.outputNames]).toEqual([['x'], ['float', 'integer', 'b']]);
    expect([await a.run({}), await b.run({}), await a.run({})]).toEqual(outputs);
    expect(sizeOfRuns(runs)).toBe(3 * 16);
  });

  it('have equal bytes for equal runs', async () => {
    expect(encodeRuns((await record()).runs)).toEqual(encodeRuns((await record()).runs));
  });

  it('of the next image begin anew, with the sessions that are open', async () => {
    const { recorder, a } = await record();
    const fourth = await a.run({});
    const runs = recorder.take();
    expect(runs.sessions).toHaveLength(2);
    expect(runs.runs).toEqual([{ session: 0, outputs: fourth }]);
  });

  it('fail where they are repeated in another order, or further than recorded', async () => {
    const { runs } = await record();
    const [, b] = await reopen(encodeRuns(runs));
    expect(await failureOf(() => b.run({}))).toMatchObject({
      code: 'bad-record',
      message: expect.stringContaining('run 1 is not one of model 1'),
    });
    const open = replayRuns({ sessions: runs.sessions.slice(0, 1), runs: [] });
    const only = await open('', OPTIONS);
    expect((await failureOf(() => only.run({}))).code).toBe('bad-record');
    expect((await failureOf(() => open('', OPTIONS))).message).toContain('it has 1 models');
    const [first] = await reopen(encodeRuns(runs));
    expect((await failureOf(() => first.run({}, ['float', 'other']))).message).toContain('no output "other"');
  });

  it.each([
    ['without a record', new Map<string, string>(), ''],
    ['with a tensor that is not there', new Map([['record', '{"sessions":[],"runs":[{"session":0,"outputs":{"y":"7"}}]}']]), 'no tensor 7'],
  ])('in a file %s are an error', async (_, metadata, message) => {
    const failure = await failureOf(() => decodeRuns(encodeSafetensors(new Map(), metadata)));
    expect(failure).toMatchObject({ code: 'bad-record', message: expect.stringContaining(message) });
  });

  it('in a truncated file are an error', async () => {
    const bytes = encodeRuns((await record()).runs);
    expect(decodeSafetensors(bytes).tensors.size).toBe(6);
    expect((await failureOf(() => decodeRuns(bytes.subarray(0, -1)))).code).toBe('truncated');
  });
});
