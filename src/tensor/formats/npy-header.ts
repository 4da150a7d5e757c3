/** Parser of the header of .npy arrays, a Python dictionary literal that is never evaluated. */
import { TensorError } from '../tensor-error.js';

export interface NpyHeader {
  readonly descr: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

const TOKEN = /\s*(?:'([^'\\]*)'|"([^"\\]*)"|(\d+)L?|(True|False)|([{}[\](),:]))/y;
const MAX_RANK = 64;

type Token = { readonly kind: 'text' | 'number' | 'word' | 'sign'; readonly text: string };

/** @throws TensorError `npy-malformed`, `npy-unsupported` (a record type: `descr` is a list). */
export function parseNpyHeader(text: string): NpyHeader {
  const tokens = tokenize(text.trimEnd());
  const expect = (wanted: string): void => {
    const token = tokens.shift();
    if (token?.text !== wanted || token.kind !== 'sign') throw malformed(`expected "${wanted}", found "${token?.text ?? 'the end'}"`);
  };
  const next = (): Token => {
    const token = tokens.shift();
    if (token === undefined) throw malformed('it is truncated');
    return token;
  };
  const fields = new Map<string, string | boolean | readonly number[]>();
  expect('{');
  while (tokens[0]?.text !== '}') {
    const key = next();
    expect(':');
    if (key.kind !== 'text' || fields.has(key.text)) throw malformed(`"${key.text}" is not a key or is repeated`);
    fields.set(key.text, takeField(next));
    if (tokens[0]?.text === ',') tokens.shift();
  }
  expect('}');
  const [descr, fortranOrder, shape] = [fields.get('descr'), fields.get('fortran_order'), fields.get('shape')];
  if (tokens.length > 0 || fields.size !== 3 || typeof descr !== 'string' || typeof fortranOrder !== 'boolean' || !Array.isArray(shape)) {
    throw malformed('expected exactly the keys descr, fortran_order and shape');
  }
  return { descr, fortranOrder, shape };
}

function takeField(next: () => Token): string | boolean | readonly number[] {
  const token = next();
  if (token.kind === 'text') return token.text;
  if (token.kind === 'word') return token.text === 'True';
  if (token.text === '[') throw new TensorError('npy-unsupported', 'arrays of records are not supported');
  if (token.text !== '(') throw malformed(`"${token.text}" is not a value`);
  const sizes: number[] = [];
  for (let item = next(); item.text !== ')'; item = next()) {
    if (item.kind === 'number') sizes.push(Number(item.text));
    else if (item.text !== ',') throw malformed(`"${item.text}" is not a dim`);
  }
  if (sizes.length > MAX_RANK) throw malformed(`the shape has ${sizes.length} axes`);
  return sizes;
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) throw malformed(`unexpected character at offset ${at}`);
    const [, single, double, number, word, sign] = match;
    if (single !== undefined || double !== undefined) tokens.push({ kind: 'text', text: single ?? double ?? '' });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else tokens.push({ kind: 'sign', text: sign ?? '' });
  }
  return tokens;
}

function malformed(reason: string): TensorError {
  return new TensorError('npy-malformed', `the .npy header is malformed: ${reason}`);
}
