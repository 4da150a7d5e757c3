/** The description that a lock's holder writes is parsed as untrusted input. */
import { describeSelf, parseHolder } from '../../../../../src/engine/store/lock/lock-holder.js';

const holder = { command: 'tanren build', pid: 7, user: 'smith', host: 'forge', sinceMs: 1_700_000_000_000 };

describe('the holder of a lock', () => {
  it('has the command, the process and the start time', () => {
    const self = describeSelf();
    expect(parseHolder(`${JSON.stringify(self)}\n`)).toEqual(self);
    expect([self.pid, self.command.startsWith('tanren')]).toEqual([process.pid, true]);
  });

  it('cannot write control characters or long texts to a terminal', () => {
    const command = `tanren \u001b[2Jbuild\u0007 ${'x'.repeat(300)}`;
    const parsed = parseHolder(JSON.stringify({ ...holder, command }));
    expect(parsed?.command.startsWith('tanren  [2Jbuild  xxx')).toBe(true);
    expect(parsed?.command).toHaveLength(201);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"command": '],
    ['a list', '[]'],
    ['a number for a name', JSON.stringify({ ...holder, user: 1 })],
    ['a text for a number', JSON.stringify({ ...holder, pid: '7' })],
    ['no time', JSON.stringify({ ...holder, sinceMs: undefined })],
    ['a fraction of a process', JSON.stringify({ ...holder, pid: 0.5 })],
  ])('%s is no holder', (_what, text) => {
    expect(parseHolder(text)).toBeUndefined();
  });
});
