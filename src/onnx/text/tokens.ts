/** Tokenizer of the text form of models. */
import { OnnxError } from '../ir/onnx-error.js';

export interface Token {
  readonly kind: 'name' | 'string' | 'int' | 'float' | 'sign' | 'end';
  /** The content of a string without its quotes; otherwise the text itself. */
  readonly text: string;
  readonly offset: number;
}

const SPACE = /(?:\s+|#[^\n]*)+/y;
const WORDS: readonly (readonly [Exclude<Token['kind'], 'end'>, RegExp])[] = [
  ['float', /-?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|inf\b|nan\b)/y],
  ['int', /-?\d+/y],
  ['name', /[A-Za-z_][\w./]*/y],
  ['string', /"(?:[^"\\\n]|\\.)*"/y],
  ['sign', /=>|[()[\]{}<>=,:?@]/y],
];

export class TokenReader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  /** @throws OnnxError `model-text` for an invalid character. */
  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#next + ahead] ?? { kind: 'end', text: '', offset: this.#text.length };
  }

  take(): Token {
    const token = this.peek();
    this.#next++;
    return token;
  }

  /** Whether the next token is the sign `text`. */
  at(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'sign' && token.text === text;
  }

  /** Takes the sign if it is next. */
  skip(text: string): boolean {
    if (!this.at(text)) return false;
    this.take();
    return true;
  }

  expect(text: string): void {
    if (!this.skip(text)) throw this.unexpected(`"${text}"`);
  }

  /** A bare or quoted name. */
  name(what: string): string {
    const token = this.take();
    if (token.kind === 'name' || token.kind === 'string' || /^(inf|nan)$/.test(token.text)) return token.text;
    throw this.unexpected(what, token);
  }

  /** Items between commas up to and including the sign `end`. */
  list<T>(end: string, item: () => T): T[] {
    const items: T[] = [];
    while (!this.skip(end)) {
      if (items.length > 0) this.expect(',');
      items.push(item());
    }
    return items;
  }

  error(message: string, token = this.peek()): OnnxError {
    return textError(this.#text, token.offset, message);
  }

  /** "expected an element, found "x"" */
  unexpected(wanted: string, token = this.peek()): OnnxError {
    return this.error(`expected ${wanted}, found ${token.kind === 'end' ? 'the end of the text' : `"${token.text}"`}`, token);
  }
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (let offset = 0; offset < text.length; ) {
    const space = matchAt(SPACE, text, offset);
    if (space !== undefined) {
      offset += space.length;
      continue;
    }
    const token = readToken(text, offset);
    if (token === undefined) throw textError(text, offset, `unexpected character ${JSON.stringify(text[offset])}`);
    tokens.push(token.token);
    offset += token.length;
  }
  return tokens;
}

function readToken(text: string, offset: number): { token: Token; length: number } | undefined {
  for (const [kind, pattern] of WORDS) {
    const word = matchAt(pattern, text, offset);
    if (word === undefined) continue;
    return { token: { kind, text: kind === 'string' ? unquote(text, word, offset) : word, offset }, length: word.length };
  }
  return undefined;
}

function unquote(text: string, word: string, offset: number): string {
  try {
    return String(JSON.parse(word));
  } catch {
    throw textError(text, offset, `${word} has an escape sequence that JSON does not support`);
  }
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

function textError(text: string, offset: number, message: string): OnnxError {
  const before = text.slice(0, offset).split('\n');
  return new OnnxError('model-text', `model text ${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}`);
}
