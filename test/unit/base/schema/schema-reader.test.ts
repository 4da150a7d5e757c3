/** Readers made from a schema accept what ajv accepts, and say what is wrong and where. */
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { formatJsonProblems, type JsonReader, readJsonShape } from '../../../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../../../src/base/json.js';
import { isJsonObject } from '../../../../src/base/json.js';
import {
  ANYTHING,
  anyList,
  anyObject,
  anyOf,
  anyText,
  constant,
  flag,
  integer,
  list,
  listOf,
  mapOf,
  matching,
  NULL,
  number,
  object,
  oneOf,
  openObject,
  text,
  tuple,
} from '../../../../src/base/schema/build-schema.js';
import { readerOf, withChecks } from '../../../../src/base/schema/schema-reader.js';
import { DECODER_SCHEMA } from '../../../../src/detection/families/single/decoder/decoder.js';
import { EDIT_PROPERTIES } from '../../../../src/onnx/rewrite/edit-schema.js';
import { CAPTURE_INDEX_SCHEMA } from '../../../../src/runtime/capture/capture-index.js';
import { getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import { PROFILE_SCHEMA } from '../../../../src/target/profile/profile.js';

const SHAPE = anyOf([
  object({ kind: constant('circle'), radius: number({ exclusiveMinimum: 0 }) }),
  object({ kind: oneOf(['box', 'frame']), sides: listOf(2, number({ minimum: 0, maximum: 9 })) }, { note: anyText() }),
]);

const DRAWING = object(
  {
    format: constant('drawing/1'),
    name: text(),
    count: integer(1),
    filled: flag(),
    layers: anyList(text()),
    shapes: list(SHAPE),
    size: anyOf([constant('free'), integer(1)]),
    named: mapOf(integer(0), { names: matching(/^[a-z]+$/, 'a lower-case word') }),
    author: openObject({ mail: matching(/^[^@]+@[^@]+$/, 'a mail address') }),
    options: anyObject(),
    loss: anyOf([NULL, number()]),
    closed: constant(true),
    spans: anyList(tuple([oneOf(['run', 'wait']), number({ minimum: 0 })], [anyText()])),
  },
  { extra: ANYTHING },
);

const drawing = {
  format: 'drawing/1',
  name: 'n',
  count: 3,
  filled: true,
  layers: [],
  shapes: [
    { kind: 'circle', radius: 1.5 },
    { kind: 'box', sides: [0, 9], note: '' },
    { kind: 'frame', sides: [1, 2] },
  ],
  size: 'free',
  named: { a: 0, bc: 7 },
  author: { mail: 'a@b', since: 2020 },
  options: { any: [1] },
  loss: null,
  closed: true,
  spans: [
    ['run', 1],
    ['wait', 2, 'part'],
  ],
  extra: null,
};

const decoder = {
  kind: 'grid',
  output: 'out',
  boxes: { channel: 0, form: 'exp' },
  strides: [8, 16],
  objectness: { channel: 4, power: 1, activation: 'sigmoid' },
  classes: { channel: 5, power: 0.5, activation: 'none' },
};

const edit = {
  select: {
    op: 'Conv',
    producer: { name: 'a', consumer: { op: 'Add' } },
    inputs: ['b', null, { op: 'Mul' }],
    attributes: { group: 1, mode: 'x', pads: [0, 1] },
  },
  matches: 'any',
  setAttribute: { name: 'pads', type: 'ints', value: [1, 'x'] },
  setConstant: { input: 1, dtype: 'int8', dims: [], values: [2, 0.5] },
};

const captureIndex = {
  format: 'tanren-capture',
  version: 1,
  parts: [
    { name: 'head', model: 'a'.repeat(64), values: [{ role: 'input', name: 'x', dtype: 'float32', dims: ['rows', 8], array: 'in' }] },
  ],
  samples: [{ id: '1', source: '1.jpg', parts: { head: { file: '1.npz', rows: 0, seen: 3 } } }],
};

const problemsOf = (reader: JsonReader<unknown>, value: Json): readonly string[] => {
  const read = readJsonShape(reader, value);
  return read.kind === 'ok' ? [] : formatJsonProblems(read.problems);
};

/** Values that fit some of the places and not the others. */
const PIECES: readonly Json[] = [
  null,
  true,
  0,
  -1,
  2,
  0.5,
  '',
  'x',
  'box',
  'free',
  'none',
  [],
  [1],
  ['x', 'y'],
  {},
  { kind: 'circle' },
  { a: 1 },
];

/** Replaces, removes or adds one member of `value` at a place that `steps` choose. */
function mutate(value: Json, steps: readonly number[], piece: Json | undefined): Json {
  const [step = 0, ...rest] = steps;
  if (Array.isArray(value) && value.length > 0 && rest.length > 0) {
    const at = step % value.length;
    return value.map((item: Json, index) => (index === at ? mutate(item, rest, piece) : item));
  }
  if (isJsonObject(value) && rest.length > 0) {
    const names = [...Object.keys(value), 'added'];
    const name = names[step % names.length] ?? 'added';
    const { [name]: member, ...others } = value;
    if (rest.length === 1 && piece === undefined) return others;
    return { ...others, [name]: member === undefined ? (piece ?? 1) : mutate(member, rest, piece) };
  }
  return piece ?? value;
}

describe('a reader of a schema', () => {
  it.each([
    ['drawing', DRAWING, drawing],
    ['decoder', DECODER_SCHEMA, decoder],
    ['target profile', PROFILE_SCHEMA, getBuiltInProfile('generic-int8')],
    ['capture index', CAPTURE_INDEX_SCHEMA, captureIndex],
    ['edit', object({}, EDIT_PROPERTIES), edit],
  ] as const)('accepts a %s exactly if ajv does', (_name, schema: JsonObject, sample: Json) => {
    const validate = new Ajv({ strict: false }).compile(schema);
    const reader = readerOf(schema);
    expect(problemsOf(reader, sample)).toEqual([]);
    let refused = 0;
    fc.assert(
      fc.property(fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }), fc.constantFrom(undefined, ...PIECES), (steps, piece) => {
        const value = mutate(sample, steps, piece);
        if (!validate(value)) refused++;
        expect([value, problemsOf(reader, value).length === 0]).toEqual([value, validate(value)]);
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(200);
  });

  it('gives the value, without the unknown fields of open objects', () => {
    const { since: _, ...author } = drawing.author;
    expect(readJsonShape(readerOf(DRAWING), drawing)).toEqual({ kind: 'ok', value: { ...drawing, author } });
  });

  it('reports every problem with its location and the expected form', () => {
    const bad = {
      ...drawing,
      nmae: 'n',
      count: 0,
      size: true,
      named: { A: 1 },
      author: { mail: 'x' },
      shapes: [{ kind: 'star' }, { kind: 'circle' }],
    };
    expect(problemsOf(readerOf(DRAWING), bad)).toEqual([
      'nmae: is not a known field; did you mean "name"?',
      'count: should be at least 1, it is 0',
      'shapes[0].kind: should be "circle" or "box" or "frame", it is "star"',
      'shapes[1].radius: should be a number, it is missing',
      'size: should be an integer, it is true',
      'named.A: should be a lower-case word',
      'author.mail: should be a mail address, it is "x"',
    ]);
  });

  it('reads lists whose items have places, and drops further items', () => {
    const reader = readerOf(tuple([text(), integer(0)], [flag()]));
    expect(readJsonShape(reader, ['a', 1])).toEqual({ kind: 'ok', value: ['a', 1] });
    expect(readJsonShape(reader, ['a', 1, false, 'more'])).toEqual({ kind: 'ok', value: ['a', 1, false] });
    expect(problemsOf(reader, ['', 'b', 3])).toEqual([
      '[0]: should not be empty',
      '[1]: should be an integer, it is "b"',
      '[2]: should be true or false, it is 3',
    ]);
    expect(problemsOf(reader, ['a'])).toEqual(['[1]: should be an integer, it is missing']);
    expect(problemsOf(reader, {})).toEqual(['should be a list, it is an object']);
  });

  it('says what a value that may be null should be', () => {
    expect(problemsOf(readerOf(anyOf([NULL, number()])), 'x')).toEqual(['should be a number, it is "x"']);
    expect(problemsOf(readerOf(constant(true)), false)).toEqual(['should be true, it is false']);
  });

  it('says what a value of no allowed type should be by the title, if there is one', () => {
    const reader = readerOf({ anyOf: [text(), object({ a: text() })], title: 'a name or {a}' });
    expect([3, [], '', { a: 1 }].map(value => problemsOf(reader, value))).toEqual([
      ['should be a name or {a}, it is 3'],
      ['should be a name or {a}, it is a list'],
      ['should not be empty'],
      ['a: should be text, it is 1'],
    ]);
  });

  it('refuses empty objects and names where the schema does', () => {
    const reader = readerOf({ type: 'object', minProperties: 1, propertyNames: { enum: ['a', 'b'] } });
    expect([{}, { c: 1 }, { a: 1, b: null }].map(value => problemsOf(reader, value))).toEqual([
      ['should not be empty'],
      ['c: should be one of a, b'],
      [],
    ]);
  });

  it('needs the fields that have a default, because files are written complete', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'integer', default: 1 }, b: { type: 'integer' } },
    } as const;
    expect(problemsOf(readerOf(schema), {})).toEqual(['a: should be an integer, it is missing']);
  });

  it('is not made from a schema with a keyword that it would ignore', () => {
    expect(() => readerOf({ type: 'array', items: { type: 'string' }, uniqueItems: true })).toThrow('uniqueItems');
    expect(() => readerOf({ type: 'object', properties: {}, maxProperties: 1 })).toThrow('maxProperties');
    expect(() => readerOf({ type: 'object', properties: {}, minProperties: 2 })).toThrow('or at least one');
    expect(() => readerOf({ type: ['string', 'null'] })).toThrow('not supported');
  });

  it('runs further checks only on values that the schema accepts', () => {
    const range = withChecks(readerOf(object({ low: number(), high: number() })), ({ low, high }) =>
      low > high ? [{ path: 'high', message: `should be at least ${low}` }] : [],
    );
    expect(problemsOf(range, { low: 2, high: 1 })).toEqual(['high: should be at least 2']);
    expect(problemsOf(range, { low: 2 })).toEqual(['high: should be a number, it is missing']);
    const nested = (value: Json): readonly string[] => {
      const problems: { path: string; message: string }[] = [];
      range(value, 'range', problems);
      return formatJsonProblems(problems);
    };
    expect(nested({ low: 2, high: 1 })).toEqual(['range.high: should be at least 2']);
  });
});
