/** What a command on a worker says: each message once, whether it is heard while the command runs or at its end. */
import fc from 'fast-check';
import { decodeLine, encodeMessage, type FromExecution } from '../../../../src/engine/execute/remote/execution-messages.js';
import { createSaidMessages } from '../../../../src/engine/execute/remote/said-messages.js';

const log = (message: string): FromExecution => ({ kind: 'log', level: 'info', message });
const textOf = (...messages: readonly FromExecution[]): Buffer => Buffer.from(messages.map(encodeMessage).join(''));

function hearAll(whole: Buffer, pieces: readonly Buffer[]) {
  const passed: FromExecution[] = [];
  const said = createSaidMessages(message => passed.push(message));
  for (const piece of pieces) said.hear(piece);
  return { early: passed.length, last: said.end(whole), passed };
}

const MESSAGES = [log('one'), log('zwei — äöü'), { kind: 'progress', done: 1, total: 2, what: 'x' } as const, log('three')];
const WHOLE = textOf(...MESSAGES, { kind: 'done' });

it('passes on complete lines while the command runs', () => {
  const { early, last, passed } = hearAll(WHOLE, [WHOLE.subarray(0, textOf(MESSAGES[0] as FromExecution).length + 3)]);
  expect([early, last, passed]).toEqual([1, { kind: 'done' }, MESSAGES]);
});

it('gives each message once, wherever the pieces are cut and however many are heard', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: WHOLE.length })), fc.integer({ min: 0, max: WHOLE.length }), (cuts, heard) => {
      const at = [0, ...cuts.filter(cut => cut < heard).sort((a, b) => a - b), heard];
      const pieces = at.slice(1).map((end, index) => WHOLE.subarray(at[index], end));
      const { last, passed } = hearAll(WHOLE, pieces);
      expect([last, passed]).toEqual([{ kind: 'done' }, MESSAGES]);
    }),
  );
});

it('passes on everything if the result has other output than was heard', () => {
  const { passed, last } = hearAll(WHOLE, [textOf(log('of another attempt'))]);
  expect([passed, last]).toEqual([[log('of another attempt'), ...MESSAGES], { kind: 'done' }]);
});

it('holds no line without an end', () => {
  const { early, passed } = hearAll(WHOLE, Array(3).fill(Buffer.alloc(1 << 20, 0x61)));
  expect([early, passed]).toEqual([0, MESSAGES]);
});

it('knows the end that was said before other output, wherever the output was cut', () => {
  const failure = { code: 'x', message: 'it broke', causes: [], help: undefined, details: null, stack: undefined, logPath: undefined };
  const failed: FromExecution = { kind: 'failed', failure };
  const whole = Buffer.concat([textOf(log('one'), failed), Buffer.from('output at exit\n')]);
  for (let heard = 0; heard <= whole.length; heard++) {
    const { last, passed } = hearAll(whole, [whole.subarray(0, heard)]);
    expect([last, passed]).toEqual([failed, [log('one'), { kind: 'output', text: 'output at exit\n' }]]);
  }
});

it.each([
  '{"kind":"slots-wanted","count":3}',
  '{"kind":"slot-returned","slot":1}',
  '{"kind":"drop-part","ticket":"t","why":"w"}',
])('takes %s as output: only a worker of this machine lends slots and parts', line => {
  expect(decodeLine(line)).toEqual({ kind: 'output', text: `${line}\n` });
});
