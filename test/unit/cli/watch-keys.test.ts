/** The filter of `tanren watch`: typed on one line, and used by the keys that print something of stages. */
import { EventEmitter } from 'node:events';
import { type KeyTarget, listenToKeys } from '../../../src/cli/commands/build/watch-keys.js';

/** A terminal whose keys a test presses. */
class Terminal extends EventEmitter {
  readonly isTTY = true;
  raw = false;
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): this {
    return this;
  }
  pause(): this {
    return this;
  }
}

let terminal: Terminal;
let written: string;
let isIdle: boolean;
let subset: number | undefined;
let ends: number;
beforeEach(() => {
  terminal = new Terminal();
  written = '';
  isIdle = true;
  subset = undefined;
  ends = 0;
  const stages = new Map(['quantize@a', 'quantize@b', 'report'].map(id => [id, {}]));
  const ran = ['quantize@a', 'report'].map(stage => [stage, { stage, outcome: { kind: 'up-to-date' } }] as const);
  const target = {
    options: {},
    console: {
      live: true,
      width: () => 80,
      style: (_: string, text: string) => text,
      line: (text: string) => {
        written += `${text}\n`;
      },
      raw: (text: string) => {
        written += text;
      },
    },
    idle: () => (isIdle ? { plan: { stages }, report: { stages: new Map(ran) } } : undefined),
    rebuild: () => undefined,
    end: () => {
      ends += 1;
    },
    toggleSubset: () => {
      subset = subset === undefined ? 32 : undefined;
      return subset;
    },
  };
  listenToKeys(target as unknown as KeyTarget, terminal as unknown as NodeJS.ReadStream);
});

const press = async (keys: string): Promise<string> => {
  written = '';
  terminal.emit('data', Buffer.from(keys));
  await new Promise(resolve => setImmediate(resolve));
  return written;
};

it('names the stages that match, and what other keys print is of these', async () => {
  expect(await press('fquant\r')).toBe('filter stages by: quant\n2 of 3 stages: quantize@a, quantize@b\n');
  expect(await press('l')).toContain('no stage with "quant" in its name ran since the start\n');
  expect(await press('f\r')).toContain('the filter is off');
  expect(await press('l')).toContain('no stage ran since the start\n');
});

it('deletes with Backspace, and Escape keeps the filter that there was', async () => {
  expect(await press('frepx\u007f\r')).toBe('filter stages by: repx\b \b\n1 of 3 stages: report\n');
  expect(await press('fnone\u001b')).toBe('filter stages by: none\n');
  expect(await press('l')).toContain('with "rep" in its name');
});

it('says that nothing matches, and stays as it was', async () => {
  expect(await press('fnothing\r')).toContain('no stage has "nothing" in its name: the filter is off');
});

it('takes the letters of other keys as text, and nothing of control characters', async () => {
  expect(await press('fq\u0001report\r')).toContain('filter stages by: qreport\n');
  expect(await press('fq\u007f\u007f\u007freport\r')).toContain('1 of 3 stages: report');
});

it('does not begin while a build runs', async () => {
  isIdle = false;
  expect(await press('freport\r')).toBe('');
});

it('begins and ends the evaluation of a subset with i, and says which', async () => {
  expect(await press('i')).toContain('from the next change, the first 32 images before all of them\n');
  expect(await press('i')).toContain('all images only\n');
});

it('ends with q, also while a build runs, and not while the filter is typed', async () => {
  await press('fq\r');
  expect(ends).toBe(0);
  isIdle = false;
  await press('q');
  expect(ends).toBe(1);
});
