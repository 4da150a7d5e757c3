/** Tests of the readers of untrusted JSON. */
import fc from 'fast-check';
import {
  fields,
  formatJsonProblems,
  integer,
  list,
  literal,
  maybe,
  number,
  readJsonShape,
  record,
  text,
} from '../../../src/base/json/json-shape.js';
import type { Json } from '../../../src/base/json.js';

interface Box {
  readonly name: string;
  readonly sides: readonly number[];
  readonly kind: 'a' | 'b';
  readonly note?: string;
}

const box = fields<Box>({ name: text(), sides: list(number({ above: 0 })), kind: literal('a', 'b'), note: maybe(text()) });

const problemsOf = (reader: typeof box, value: Json): string[] => {
  const read = readJsonShape(reader, value);
  return read.kind === 'ok' ? [] : formatJsonProblems(read.problems);
};

describe('reading JSON into a typed value', () => {
  it('returns the value if it is valid', () => {
    expect(readJsonShape(box, { name: 'n', sides: [1, 2.5], kind: 'b' })).toEqual({
      kind: 'ok',
      value: { name: 'n', sides: [1, 2.5], kind: 'b' },
    });
  });

  it('reports every problem with its place', () => {
    expect(problemsOf(box, { name: '', sides: [1, 0, 'x'], knid: 'a', note: 3 })).toEqual([
      'knid: is not a known field; did you mean "kind"?',
      'name: should not be empty',
      'sides[1]: should be more than 0, it is 0',
      'sides[2]: should be a number, it is "x"',
      'kind: should be "a" or "b", it is missing',
      'note: should be text, it is 3',
    ]);
  });

  it('does not read inherited properties as fields', () => {
    const reader = fields<{ constructor: string }>({ constructor: text() });
    expect(readJsonShape(reader, {}).kind).toBe('problems');
  });

  it('shortens long values in messages', () => {
    expect(problemsOf(box, { name: 'n', sides: 'y'.repeat(1000), kind: 'a' } as unknown as Json)[0]?.length).toBeLessThan(100);
  });

  it('reads records with valid names', () => {
    const reader = record(integer(0), name => (name.startsWith('x') ? undefined : 'should start with x'));
    expect(readJsonShape(reader, { x1: 1, x2: 2 })).toEqual({ kind: 'ok', value: { x1: 1, x2: 2 } });
    expect(readJsonShape(reader, { y: 1 })).toEqual({ kind: 'problems', problems: [{ path: 'y', message: 'should start with x' }] });
  });

  it('never throws, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(['ok', 'problems']).toContain(readJsonShape(box, value as Json).kind);
      }),
    );
  });
});
