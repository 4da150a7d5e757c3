/** The type of a schema allows what ajv accepts and nothing else. The compiler checks the types, the tests the same values. */
import type { Json, JsonObject } from '../../../../src/base/json.js';
import { type FromSchema, schemaOf } from '../../../../src/base/schema/from-schema.js';
import { ajvOf } from '../../../support/params-schema.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the types are the same. */
function areEqual<A, B>(answer: Equal<A, B>): boolean {
  return answer;
}

const SIZE = { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'free' }] } as const;

const PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    mode: { type: 'string', enum: ['fast', 'exact'], default: 'fast' },
    batch: { ...SIZE, default: 1 },
    sizes: { type: 'object', additionalProperties: SIZE, default: {} },
    tags: { type: 'array', items: { type: ['string', 'null'] } },
    flag: { type: 'boolean' },
    nested: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: { depth: { type: 'number', default: 0.5 }, note: { type: 'string' } },
    },
    options: { type: 'object', default: {} },
    anything: {},
  },
} as const;

type Params = FromSchema<typeof PARAMS>;

interface Expected {
  readonly name: string;
  readonly mode: 'fast' | 'exact';
  readonly batch: number | 'free';
  readonly sizes: { readonly [name: string]: number | 'free' };
  readonly tags?: readonly (string | null)[];
  readonly flag?: boolean;
  readonly nested: { readonly depth: number; readonly note?: string };
  readonly options: JsonObject;
  readonly anything?: Json;
}

describe('the type of a schema', () => {
  it('has every property of the schema, present if it is required or has a default', () => {
    const given: Params extends Expected ? (Expected extends Params ? true : false) : false = true;
    expect(given).toBe(true);
    expect(areEqual<keyof Params, keyof Expected>(true)).toBe(true);
    expect(areEqual<Params['nested'], { readonly depth: number; readonly note?: string }>(true)).toBe(true);
    expect(areEqual<Params['batch'], number | 'free'>(true)).toBe(true);
    expect(areEqual<Params['tags'], readonly (string | null)[] | undefined>(true)).toBe(true);
  });

  it('is the type of the value that ajv returns', () => {
    const filled: Params = { name: 'a', mode: 'fast', batch: 1, sizes: {}, nested: { depth: 0.5 }, options: {} };
    expect(ajvOf(PARAMS)({ name: 'a' })).toEqual(filled);
  });

  it('refuses the values that ajv refuses', () => {
    // @ts-expect-error a name is required
    const nameless: Params = { mode: 'fast', batch: 1, sizes: {}, nested: { depth: 1 }, options: {} };
    // @ts-expect-error no such mode
    const slow: Params['mode'] = 'slow';
    // @ts-expect-error neither a number nor "free"
    const batch: Params['batch'] = 'fixed';
    const check = ajvOf(PARAMS);
    expect(() => check(nameless)).toThrow('required');
    expect(() => check({ name: 'a', mode: slow })).toThrow('/mode');
    expect(() => check({ name: 'a', batch })).toThrow('/batch');
  });

  it('is the declared type if a literal cannot express it', () => {
    const branded = schemaOf<'left' | 'right'>({ type: 'string', pattern: '^(left|right)$' });
    expect(areEqual<FromSchema<typeof branded>, 'left' | 'right'>(true)).toBe(true);
    expect(areEqual<FromSchema<{ type: 'array'; items: typeof branded }>, readonly ('left' | 'right')[]>(true)).toBe(true);
  });
});
