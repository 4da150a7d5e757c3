/** Declared options give values of their types, and refuse other text with the expected form. */
import { Command, type CommanderError } from 'commander';
import {
  attachAll,
  choice,
  flag,
  named,
  type OptionTable,
  optional,
  repeated,
  required,
  several,
  type ValuesOf,
  value,
} from '../../../src/cli/declare/option.js';
import { parseCount, parseNumber, parseSides, parseSize, parseText, parseWith } from '../../../src/cli/declare/values.js';

function read<O extends OptionTable>(options: O, ...argv: readonly string[]): ValuesOf<O> {
  const command = new Command('x').exitOverride().configureOutput({ writeErr: () => undefined });
  const values = attachAll(command, options);
  command.parse([...argv], { from: 'user' });
  return values();
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as CommanderError).message;
  }
  throw new Error('nothing was thrown');
}

it('an omitted option has its default, or is absent', () => {
  const options = {
    json: flag('--json', ''),
    top: value('--top <n>', '', parseCount, { value: 5 }),
    data: optional('--data <path>', '', parseText),
    set: repeated('--set <x>', '', parseText),
    names: several('--names <x...>', '', parseText),
    dim: named('--dim <x>', '', parseSize('batch=1')),
  };
  expect(read(options)).toEqual({ json: false, top: 5, set: [], dim: {} });
  expect(
    read(options, '--json', '--top', '7', '--data', 'x', '--set', 'a', '--set', 'b', '--names', 'p', 'q', '--dim', 'n=3', '--dim', 'n=4'),
  ).toEqual({
    json: true,
    top: 7,
    data: 'x',
    set: ['a', 'b'],
    names: ['p', 'q'],
    dim: { n: 4 },
  });
});

it('values do not leak from one program into the next', () => {
  const set = repeated('--set <x>', '', parseText);
  read({ set }, '--set', 'a');
  expect(read({ set })).toEqual({ set: [] });
});

it('a negated flag is true unless it is given', () => {
  const options = { parts: flag('--no-parts', '') };
  expect([read(options).parts, read(options, '--no-parts').parts]).toEqual([true, false]);
});

it('an option with an optional value has its preset if the value is omitted', () => {
  const options = { semantic: optional('--semantic [score]', '', parseNumber('a number'), '0.5') };
  expect([read(options), read(options, '--semantic'), read(options, '--semantic', '0.7')]).toEqual([
    {},
    { semantic: 0.5 },
    { semantic: 0.7 },
  ]);
});

it('the help text shows defaults and choices', () => {
  const command = new Command('x');
  attachAll(command, { form: choice('--form <f>', 'the form', ['text', 'dot'], 'text'), set: repeated('--set <x>', 'an item', parseText) });
  expect(command.helpInformation()).toMatch(
    /the form \(choices: "text", "dot"\) \(default: text\)|the form \(default: text\) \(choices: "text",\s+"dot"\)/,
  );
  expect(command.helpInformation()).toContain('an item (repeatable)');
});

it.each([
  ['--top', 'many', 'Expected a whole number of at least 1.'],
  ['--top', '0', 'Expected a whole number of at least 1.'],
  ['--top', '1e3', 'Expected a whole number of at least 1.'],
  ['--score', '1.5', 'Expected a number from 0 to 1.'],
  ['--score', ' ', 'Expected a number from 0 to 1.'],
  ['--dim', 'batch', 'Expected name=size, for example batch=1.'],
  ['--dim', 'batch=0', 'Expected name=size, for example batch=1.'],
  ['--size', 'huge', 'Expected a size, for example 2GB.'],
  ['--form', 'png', 'Expected text, mermaid or dot.'],
])('%s refuses %j', (name, given, expected) => {
  const options = {
    top: optional('--top <n>', '', parseCount),
    score: optional('--score <n>', '', parseNumber('a number from 0 to 1', 0, 1)),
    dim: named('--dim <x>', '', parseSize('batch=1')),
    size: optional(
      '--size <x>',
      '',
      parseWith(() => undefined, 'a size, for example 2GB'),
    ),
    form: choice('--form <f>', '', ['text', 'mermaid', 'dot'], 'text'),
  };
  expect(messageOf(() => read(options, name, given))).toContain(`argument '${given}' is invalid. ${expected}`);
});

it('a missing required option is refused', () => {
  expect(messageOf(() => read({ truth: required('--truth <file>', '', parseText) }))).toContain(
    "required option '--truth <file>' not specified",
  );
});

describe('height and width', () => {
  it.each([
    ['224x320', { height: 224, width: 320 }],
    ['16384x6103', { height: 16384, width: 6103 }],
    ['10000x10000', { height: 10000, width: 10000 }],
  ])('%s', (text, sides) => expect(parseSides(text)).toEqual(sides));

  it.each(['99999x99999', '16385x1', '1x16385', '10001x10000', '16384x6104'])('%s is refused: its tensor would not fit in memory', text => {
    expect(messageOf(() => parseSides(text))).toBe('Expected sides of at most 16384, and at most 100 million pixels.');
  });
});
