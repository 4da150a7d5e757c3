/** Plain data becomes JSON as JSON.stringify writes it, and what JSON cannot represent is an error. */
import { toJson } from '../../../src/base/json/to-json.js';

it('copies plain data as JSON.stringify does', () => {
  const value = { a: 1, b: undefined, c: [null, 'x', { d: true, e: undefined }] };
  expect(JSON.stringify(toJson(value))).toBe(JSON.stringify(value));
});

it.each([
  ['a function', { f: () => 1 }],
  ['a big integer', [1n]],
  ['a number that is not finite', { a: Number.NaN }],
  ['undefined in a list', [undefined]],
])('refuses %s, which JSON.stringify changes or drops', (_what, value) => {
  expect(() => toJson(value)).toThrow('JSON cannot represent the');
});
