/** What a command on a worker says: each message once, whether it is heard while the command runs or at its end. */
import fc from 'fast-check';
import { encodeMessage, type FromExecution } from '../../../../src/engine/execute/remote/execution-messages.js';
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
