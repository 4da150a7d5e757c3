/** A value with forms that a constant tells apart is judged by the form that it names; names are answered by what they stand for. */

import type { Json } from '../../../../src/base/json.js';
import { checkSchema } from '../../../../src/engine/config/check-schema.js';
import { locateJson } from '../../../../src/engine/config/located.js';
import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';

const formOf = (kind: string, settings: object) =>
  ({ type: 'object', additionalProperties: false, required: ['kind'], properties: { kind: { const: kind }, ...settings } }) as const;

const BINS = { type: 'integer', minimum: 2 } as const;
const POSITION = { anyOf: [formOf('nearest', {}), formOf('searched', { first: BINS })] };
const RANGE = {
  anyOf: [
    { type: 'string', enum: ['min-max', 'mse'] },
    formOf('min-max', {}),
    formOf('percentile', { percentile: { type: 'number', maximum: 100 }, sides: { enum: ['magnitude', 'each'] } }),
    formOf('mse', { candidates: BINS }),
    formOf('other-percentile', { percentile: { type: 'number', maximum: 100 } }),
    formOf('power-of-two', { position: POSITION }),
  ],
};

const GATE = { type: 'object', propertyNames: { pattern: '^bbox', title: 'a COCO figure, such as bbox.AP' } };
const OTHER = { type: 'object', propertyNames: { pattern: '^b' } };
const SCHEMA = { type: 'object', additionalProperties: false, properties: { range: RANGE, gate: GATE, other: OTHER } };

/** Code and message of each error of `range`. */
function check(range: Json): readonly string[] {
  return checkWhole({ range });
}

function checkWhole(value: Json): readonly string[] {
  const diagnostics = makeDiagnosticList();
  const located = locateJson(value, { file: 'pipeline.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 });
  checkSchema({ schema: SCHEMA, origin: 'foreign' }, located, 'setting', 'stage "q"', diagnostics);
  return diagnostics.items.map(({ code, message, help }) => `${code}: ${message}${help === undefined ? '' : ` (${help})`}`);
}

it.each<[string, Json, readonly string[]]>([
  [
    'a bound of the form',
    { kind: 'percentile', percentile: 200 },
    ['bad-setting: "range.percentile" of stage "q" must be <= 100; it is 200'],
  ],
  [
    'a setting that another form has',
    { kind: 'mse', percentile: 99 },
    ['unknown-setting: "range" of stage "q" has no "percentile" (it takes "kind", "candidates")'],
  ],
  [
    'a form inside a form',
    { kind: 'power-of-two', position: { kind: 'searched', first: 1 } },
    ['bad-setting: "range.position.first" of stage "q" must be >= 2; it is 1'],
  ],
])('%s: only that error', (_name, range, errors) => {
  expect(check(range)).toEqual(errors);
});

it('a constant that no form has is answered with those that there are, at each depth', () => {
  expect(check({ kind: 'persentile', percentile: 99 })).toEqual([
    'bad-setting: "range.kind" of stage "q" is "persentile"; expected one of "min-max", "percentile", "mse", "other-percentile", "power-of-two" (did you mean "percentile"?)',
  ]);
  expect(check({ kind: 'power-of-two', position: { kind: 3 } })).toEqual([
    'bad-setting: "range.position.kind" of stage "q" is 3; expected one of "nearest", "searched"',
  ]);
});

it('a value without the constant, and one of another type, are answered as before', () => {
  expect(check({ percentile: 99 })).toContain('missing-setting: "range" of stage "q" needs "kind"');
  expect(check([1])).toEqual(['bad-setting: "range" of stage "q" is [1], which matches no allowed form']);
  expect(check({ kind: 'mse', candidates: 5 })).toEqual([]);
});

it('a name is answered by what such names stand for, and else by the letters that it may have', () => {
  expect(checkWhole({ gate: { 'bbx.AP': '>= 0' } })).toEqual([
    'bad-name: "bbx.AP" in "gate" of stage "q" is not a COCO figure, such as bbox.AP',
  ]);
  expect(checkWhole({ other: { x: 1 } })[0]).toMatch(/^bad-name: "x" in "other" of stage "q" is not a valid name \(names have letters/);
});
