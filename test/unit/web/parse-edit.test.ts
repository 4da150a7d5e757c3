/** Edits of requests: which are read, and which are refused. */
import type { JsonObject } from '../../../src/base/json.js';
import { parseEdit } from '../../../src/web/edit/parse-edit.js';

const plan = {
  params: { preset: 'xint8' },
  stages: new Map([
    ['quantize@b', { id: 'quantize@b', group: 'quantize', plugin: { name: 'quantize' } }],
    ['verify', { id: 'verify', group: 'verify', plugin: { name: 'verify' } }],
  ]),
} as unknown as Parameters<typeof parseEdit>[1];

const override: JsonObject = { kind: 'override', stage: 'quantize@b', value: 'x', set: { dtype: 'int16' } };

describe('an edit', () => {
  it.each<JsonObject>([
    override,
    { kind: 'exclude', stage: 'quantize@b', value: 'x' },
  ])('%j is read with the name that the file has for its stage', edit => {
    expect(parseEdit({ ...edit, digest: 'abc' }, plan)).toEqual({ edit, place: { group: 'quantize', item: 'b' } });
  });

  it.each([
    ['preset', { effective: 'xint8' }],
    ['other', {}],
    ['toString', {}],
  ])('of the parameter %s has no stage, and the value that the plan has', (name, effective) => {
    const edit = { kind: 'param', name, to: 'a8w8' };
    expect(parseEdit(edit, plan)).toEqual({ edit, place: { group: '', item: undefined, ...effective } });
  });

  it.each<[JsonObject, RegExp]>([
    [{ ...override, kind: 'delete' }, /malformed/],
    [{ ...override, set: {} }, /malformed/],
    [{ ...override, set: { run: 'x' } }, /run/],
    [{ ...override, value: 7 }, /value/],
    [{ ...override, value: '' }, /value/],
    [{ ...override, value: 'x'.repeat(1001) }, /1000 characters/],
    [{ ...override, stage: 'verify' }, /uses "quantize"/],
    [{ ...override, stage: 'none' }, /uses "quantize"/],
    [{ kind: 'param', name: 'preset', to: null }, /malformed/],
  ])('%j is refused', (edit, message) => {
    expect(() => parseEdit(edit, plan)).toThrow(
      expect.objectContaining({ code: 'ui-bad-request', message: expect.stringMatching(message) }),
    );
  });
});
