/** Reads JSON from bytes: numbers as `JSON.parse` gives them, and other values are passed. What is in lists and objects that are passed, and in texts, is not checked. */

/** Why a text cannot be read on: its bytes end, or it is something else than was asked for. */
export type Stop = 'more' | 'unfit';

/** Thrown as it is: no stack is made for it. */
class ReadStop extends Error {
  override readonly name = 'ReadStop';
  readonly why: Stop;
  constructor(why: Stop) {
    super(why);
    this.why = why;
  }
}

const [MORE, UNFIT] = [new ReadStop('more'), new ReadStop('unfit')];

/** The reason of an error that a `JsonBytes` throws; undefined for others. */
export function stopOf(error: unknown): Stop | undefined {
  return error instanceof ReadStop ? error.why : undefined;
}

export function unfit(): never {
  throw UNFIT;
}

export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

const [QUOTE, BACKSLASH, COLON, COMMA, PLUS, MINUS, POINT] = [0x22, 0x5c, 0x3a, 0x2c, 0x2b, 0x2d, 0x2e];
const [ZERO, NINE, SMALL_E] = [0x30, 0x39, 0x65];

/** 1 for bytes that neither open nor close a text, list or object. */
const INSIDE = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(![QUOTE, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT].includes(byte)),
);

/** Powers of ten that a number holds exactly. */
const TENS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** So many digits are an integer that a number holds exactly. */
const MOST_DIGITS = 15;

const LITERALS = ['true', 'false', 'null'].map(text => Buffer.from(text));

/** A place in bytes that may go on: a read beyond them would make all later ones slow. Each function moves it on; where one throws, the place is anywhere after the start. */
export class JsonBytes {
  readonly bytes: Buffer;
  at: number;
  /** The name that was passed last. */
  nameStart = 0;
  nameEnd = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** The next byte that is no space. */
  peek(): number {
    const { bytes } = this;
    for (;;) {
      if (this.at >= bytes.length) throw MORE;
      const byte = bytes[this.at] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.at++;
    }
  }

  take(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  expect(byte: number): void {
    if (!this.take(byte)) throw UNFIT;
  }

  /** @returns whether a comma follows; else it is `close`. */
  passSeparator(close: number): boolean {
    if (this.take(COMMA)) return true;
    this.expect(close);
    return false;
  }

  /** A name and its colon; `nameStart` and `nameEnd` say where its characters are. */
  passName(): void {
    if (this.peek() !== QUOTE) throw UNFIT;
    this.nameStart = this.at + 1;
    this.passText();
    this.nameEnd = this.at - 1;
    this.expect(COLON);
  }

  isName(name: Uint8Array): boolean {
    const { bytes, nameStart } = this;
    if (this.nameEnd - nameStart !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (bytes[nameStart + i] !== name[i]) return false;
    return true;
  }

  /** Whether the name may be another one than its characters: it has an escape. */
  hasEscapedName(): boolean {
    return this.bytes.subarray(this.nameStart, this.nameEnd).includes(BACKSLASH);
  }

  passText(): void {
    this.expect(QUOTE);
    this.at = endOfText(this.bytes, this.at);
  }

  readNumber(): number {
    const { bytes } = this;
    const isNegative = this.peek() === MINUS;
    const start = this.at;
    const first = isNegative ? start + 1 : start;
    const point = passDigits(bytes, first);
    const hasDecimals = point < bytes.length && bytes[point] === POINT;
    const end = hasDecimals ? passDigits(bytes, point + 1) : point;
    if (end >= bytes.length) throw MORE;
    if (point === first || (bytes[first] === ZERO && point > first + 1) || (hasDecimals && end === point + 1)) throw UNFIT;
    if (((bytes[end] as number) | 0x20) === SMALL_E) return this.readWithExponent(start, end);
    this.at = end;
    const decimals = hasDecimals ? end - point - 1 : 0;
    if (point - first + decimals > MOST_DIGITS) return Number(bytes.toString('latin1', start, end));
    let value = 0;
    for (let at = first; at < point; at++) value = 10 * value + (bytes[at] as number) - ZERO;
    for (let at = point + 1; at < end; at++) value = 10 * value + (bytes[at] as number) - ZERO;
    // Both are exact, so that their quotient is rounded once.
    const size = decimals === 0 ? value : value / (TENS[decimals] as number);
    return isNegative ? -size : size;
  }

  private readWithExponent(start: number, letter: number): number {
    const { bytes } = this;
    const sign = bytes[letter + 1];
    const first = sign === PLUS || sign === MINUS ? letter + 2 : letter + 1;
    const end = passDigits(bytes, first);
    if (end >= bytes.length) throw MORE;
    if (end === first) throw UNFIT;
    this.at = end;
    return Number(bytes.toString('latin1', start, end));
  }

  /** Any value. */
  passValue(): void {
    const byte = this.peek();
    if (byte === QUOTE) this.passText();
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.passMembers();
    else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) this.readNumber();
    else this.passLiteral();
  }

  private passMembers(): void {
    const { bytes } = this;
    const { length } = bytes;
    let { at } = this;
    let depth = 0;
    do {
      while (at < length && INSIDE[bytes[at] as number] === 1) at++;
      if (at >= length) throw MORE;
      const byte = bytes[at];
      if (byte === QUOTE) at = endOfText(bytes, at + 1);
      else {
        depth += byte === OPEN_LIST || byte === OPEN_OBJECT ? 1 : -1;
        at++;
      }
    } while (depth > 0);
    this.at = at;
  }

  private passLiteral(): void {
    const { bytes, at } = this;
    for (const text of LITERALS) {
      const length = Math.min(text.length, bytes.length - at);
      if (text.compare(bytes, at, at + length, 0, length) !== 0) continue;
      if (length < text.length) throw MORE;
      this.at += length;
      return;
    }
    throw UNFIT;
  }
}

function passDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  return at;
}

/** @returns the place after the closing quote. */
function endOfText(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(QUOTE, start);
  while (end >= 0 && isEscaped(bytes, end)) end = bytes.indexOf(QUOTE, end + 1);
  if (end < 0) throw MORE;
  return end + 1;
}

/** Whether a quote belongs to a text: an odd number of backslashes is before it. */
function isEscaped(bytes: Buffer, quote: number): boolean {
  let first = quote;
  while (bytes[first - 1] === BACKSLASH) first--;
  return (quote - first) % 2 === 1;
}
