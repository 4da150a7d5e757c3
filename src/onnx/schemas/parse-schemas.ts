/**
 * Parser of the generated table of operator schemas. The line of an operator is parsed on first use.
 *
 *     [ai.onnx] 28                                                   a domain and its newest operator set
 *     Conv 1 X:T W:T B?:T | Y:T | group:i kernel_shape:I | T=@0      name, version, inputs, outputs, attributes, types: sets by number
 *     Conv 22 ^ | T=@3                                               as the line above, with other types
 *     Upsample 10 -                                                  deprecated from this version on
 *
 * `?` means optional, `*N` at least N times with one type, `~N` at least N times, `!` required; `...` allows attributes of any name.
 */
import { InternalError } from '../../base/invariant.js';
import { OPERATORS, TYPE_SETS } from './generated/operators.js';
import type { AttributeSchema, Occurrence, OperatorSchema, Parameter, SchemaAttributeKind } from './operator-schema.js';

/** One version of an operator. */
export type OperatorVersion =
  | { readonly kind: 'defined'; readonly since: number; readonly schema: () => OperatorSchema }
  | { readonly kind: 'deprecated'; readonly since: number };

export interface DomainSchemas {
  readonly newest: number;
  /** Versions by operator, oldest first. */
  readonly operators: ReadonlyMap<string, readonly OperatorVersion[]>;
}

let parsed: ReadonlyMap<string, DomainSchemas> | undefined;

/** Schemas by domain, with '' for the ONNX domain. Parsed on the first call. */
export function schemasByDomain(): ReadonlyMap<string, DomainSchemas> {
  parsed ??= parseDomains();
  return parsed;
}

const KINDS: Readonly<Record<string, SchemaAttributeKind>> = {
  f: 'float',
  i: 'int',
  s: 'string',
  t: 'tensor',
  g: 'graph',
  x: 'sparse-tensor',
  p: 'type',
  F: 'floats',
  I: 'ints',
  S: 'strings',
  T: 'tensors',
  G: 'graphs',
  X: 'sparse-tensors',
  P: 'types',
};

function parseDomains(): ReadonlyMap<string, DomainSchemas> {
  const sets = TYPE_SETS.trim()
    .split('\n')
    .map(line => new Set(line.split(' ')));
  const domains = new Map<string, { newest: number; operators: Map<string, OperatorVersion[]> }>();
  let operators = new Map<string, OperatorVersion[]>();
  let domain = '';
  let form = '';
  for (const line of OPERATORS.trim().split('\n')) {
    const heading = /^\[(.+)\] (\d+)$/.exec(line);
    if (heading !== null) {
      domain = heading[1] === 'ai.onnx' ? '' : (heading[1] ?? '');
      operators = new Map();
      domains.set(domain, { newest: Number(heading[2]), operators });
      continue;
    }
    const [name = '', version = ''] = line.split(' ', 2);
    const rest = line.slice(name.length + version.length + 2);
    const versions = operators.get(name) ?? [];
    operators.set(name, versions);
    const since = Number(version);
    if (rest === '-') {
      versions.push({ kind: 'deprecated', since });
      continue;
    }
    const types = rest.slice(rest.lastIndexOf(' | ') + 3);
    if (!rest.startsWith('^')) form = rest.slice(0, rest.lastIndexOf(' | '));
    versions.push({ kind: 'defined', since, schema: once(parserOf({ domain, name, since, form, types }, sets)) });
  }
  return domains;
}

/** Marks operators that allow attributes of any name. */
const ANY_ATTRIBUTES = '...';

interface Line {
  readonly domain: string;
  readonly name: string;
  readonly since: number;
  readonly form: string;
  readonly types: string;
}

function parserOf({ domain, name, since, form, types }: Line, sets: readonly ReadonlySet<string>[]): () => OperatorSchema {
  return () => {
    const setOf = (word: string): ReadonlySet<string> => getSet(sets, word);
    const variables = new Map(words(types).map(word => [beforeSign(word, '='), setOf(afterSign(word, '='))]));
    const [inputs = '', outputs = '', attributes = ''] = form.split(' | ').map(part => part.trim());
    const parameterOf = (word: string): Parameter => {
      const kind = afterSign(word, ':');
      const isVariable = !kind.startsWith('@');
      const types = isVariable ? variables.get(kind) : setOf(kind);
      if (types === undefined) throw new InternalError(`${name} ${since} has a parameter of type ${kind}, which it does not define`);
      return { ...nameAndOccurrence(beforeSign(word, ':')), types, variable: isVariable ? kind : undefined };
    };
    return {
      domain,
      name,
      since,
      inputs: words(inputs).map(parameterOf),
      outputs: words(outputs).map(parameterOf),
      attributes: new Map(
        words(attributes)
          .filter(word => word !== ANY_ATTRIBUTES)
          .map(word => [beforeSign(word, ':'), attributeOf(afterSign(word, ':'))]),
      ),
      otherAttributes: words(attributes).includes(ANY_ATTRIBUTES) ? 'allowed' : 'rejected',
    };
  };
}

function nameAndOccurrence(text: string): { readonly name: string; readonly occurs: Occurrence } {
  const found = /^(\w+)(?:(\?)|([*~])(\d+))?$/.exec(text);
  if (found === null) throw new InternalError(`the table of operators has a parameter "${text}"`);
  const [, name = '', optional, variadic, least = '0'] = found;
  if (optional !== undefined) return { name, occurs: { kind: 'optional' } };
  if (variadic === undefined) return { name, occurs: { kind: 'single' } };
  return { name, occurs: { kind: 'variadic', least: Number(least), types: variadic === '*' ? 'one-type' : 'any-types' } };
}

function attributeOf(text: string): AttributeSchema {
  const kind = KINDS[text.slice(0, 1)];
  if (kind === undefined) throw new InternalError(`the table of operators has an attribute of kind "${text}"`);
  return { kind, required: text.endsWith('!') };
}

function getSet(sets: readonly ReadonlySet<string>[], word: string): ReadonlySet<string> {
  const set = sets[Number(word.slice(1))];
  if (set === undefined) throw new InternalError(`the table of operators has no set of types ${word}`);
  return set;
}

const words = (text: string): readonly string[] => text.split(' ').filter(word => word !== '');
const beforeSign = (word: string, sign: string): string => word.slice(0, word.lastIndexOf(sign));
const afterSign = (word: string, sign: string): string => word.slice(word.lastIndexOf(sign) + 1);

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
