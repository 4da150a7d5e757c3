/** Decoder of Python pickles: a small stack machine that imports nothing and calls only hooks. Source: CPython's Lib/pickletools.py, protocols 0 to 5. */

import { TensorError } from '../tensor-error.js';
import { ByteCursor } from './byte-cursor.js';
import { isKind, type PickleDict, type PickleGlobal, type PickleHooks, type PickleSequence, type PickleValue } from './pickle-value.js';

const MAX_LONG_BYTES = 256;

/**
 * Decodes one pickle from `start`; `end` is the offset after it.
 * A callable that is not allowed makes the whole pickle invalid, wherever it occurs.
 * @throws TensorError `unsafe-global` (names the callable), `whole-module` (names the class of the first object), `pickle-malformed`, `truncated`.
 */
export function decodePickle<T>(bytes: Uint8Array, hooks: PickleHooks<T>, start = 0): { value: PickleValue<T>; end: number } {
  const machine = new Machine(new ByteCursor(bytes, 'the pickle', start), hooks);
  const { cursor } = machine;
  for (let opcode = cursor.takeUint8(); opcode !== STOP; opcode = cursor.takeUint8()) {
    const step = STEPS.get(opcode);
    if (step === undefined) throw malformed(`opcode 0x${opcode.toString(16)} at offset ${cursor.position - 1} is unknown`);
    step(machine);
  }
  return { value: machine.finish(), end: cursor.position };
}

const STOP = '.'.charCodeAt(0);

class Machine<T> {
  readonly cursor: ByteCursor;
  readonly #hooks: PickleHooks<T>;
  readonly #memo = new Map<number, PickleValue<T>>();
  readonly #marks: number[] = [];
  readonly #stack: PickleValue<T>[] = [];
  /** The first callable that is not allowed; the pickle is rejected at its end at the latest. */
  #forbidden: string | undefined;

  constructor(cursor: ByteCursor, hooks: PickleHooks<T>) {
    this.cursor = cursor;
    this.#hooks = hooks;
  }

  push(value: PickleValue<T>): void {
    this.#stack.push(value);
  }

  pop(): PickleValue<T> {
    const value = this.#stack.length > (this.#marks.at(-1) ?? 0) ? this.#stack.pop() : undefined;
    if (value === undefined) throw malformed(`the stack is empty at offset ${this.cursor.position}`);
    return value;
  }

  top(): PickleValue<T> {
    const value = this.pop();
    this.push(value);
    return value;
  }

  mark(): void {
    this.#marks.push(this.#stack.length);
  }

  popToMark(): PickleValue<T>[] {
    const mark = this.#marks.pop();
    if (mark === undefined) throw malformed(`no mark is set at offset ${this.cursor.position}`);
    return this.#stack.splice(mark);
  }

  popMany(count: number): PickleValue<T>[] {
    return Array.from({ length: count }, () => this.pop()).reverse();
  }

  popText(): string {
    const text = this.pop();
    if (typeof text !== 'string') throw malformed(`expected a string at offset ${this.cursor.position}`);
    return text;
  }

  memoize(index: number = this.#memo.size): void {
    this.#memo.set(index, this.top());
  }

  recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw malformed(`memo ${index} is not set at offset ${this.cursor.position}`);
    this.push(value);
  }

  pushGlobal(module: string, name: string): void {
    const path = `${module}.${name}`;
    if (!this.#hooks.isAllowed(path)) this.#forbidden ??= path;
    this.push({ kind: 'global', path });
  }

  call(): void {
    const args = this.pop();
    const target = this.#popGlobal();
    if (!isKind(args, 'tuple')) throw malformed(`"${target.path}" is called without a tuple of arguments`);
    if (!this.#hooks.isAllowed(target.path)) throw unsafe(target.path);
    this.push(this.#hooks.call(target.path, args.items));
  }

  /** An instance of a class: the pickle contains a whole module, or an object besides tensors. */
  makeInstance(target: PickleValue<T>, args: readonly PickleValue<T>[]): void {
    if (!isKind(target, 'global')) throw malformed(`an object without a class at offset ${this.cursor.position}`);
    if (!this.#hooks.isAllowed(target.path)) throw args.length === 0 ? wholeModule(target.path) : unsafe(target.path);
    this.push(this.#hooks.call(target.path, args));
  }

  load(id: PickleValue<T>): void {
    this.push(this.#hooks.load(id));
  }

  append(values: readonly PickleValue<T>[]): void {
    const target = this.top();
    if (!isKind(target, 'list') && !isKind(target, 'set'))
      throw malformed(`append to a value that is not a list at offset ${this.cursor.position}`);
    for (const value of values) target.items.push(value);
  }

  setItems(values: readonly PickleValue<T>[]): void {
    const target = this.top();
    if (!isKind(target, 'dict')) throw malformed(`an item is set on a value that is not a dictionary at offset ${this.cursor.position}`);
    addPairs(target, values);
  }

  /** The state of a dictionary (`_metadata` of torch) is dropped; other values have no state. */
  build(): void {
    this.pop();
    const target = this.top();
    if (!isKind(target, 'dict')) throw malformed(`a state is set on a value that is not a dictionary at offset ${this.cursor.position}`);
  }

  finish(): PickleValue<T> {
    if (this.#forbidden !== undefined) throw unsafe(this.#forbidden);
    const value = this.pop();
    if (this.#stack.length > 0 || this.#marks.length > 0) throw malformed('the stack is not empty at its end');
    return value;
  }

  #popGlobal(): PickleGlobal {
    const target = this.pop();
    if (!isKind(target, 'global')) throw malformed(`a call of a value that is not a function at offset ${this.cursor.position}`);
    return target;
  }
}

type Step = <T>(machine: Machine<T>) => void;

const sequence = <T>(kind: PickleSequence<T>['kind'], items: PickleValue<T>[]): PickleSequence<T> => ({ kind, items });

const BY_LETTER: Readonly<Record<string, Step>> = {
  '(': m => m.mark(),
  '0': m => m.pop(),
  '1': m => m.popToMark(),
  '2': m => m.push(m.top()),
  N: m => m.push(null),
  I: m => m.push(parseInteger(m.cursor.takeLine())),
  L: m => m.push(parseInteger(m.cursor.takeLine().replace(/L$/, ''))),
  F: m => m.push(Number(m.cursor.takeLine())),
  J: m => m.push(m.cursor.takeInt32()),
  K: m => m.push(m.cursor.takeUint8()),
  M: m => m.push(m.cursor.takeUint16()),
  G: m => m.push(m.cursor.takeFloat64BigEndian()),
  S: m => m.push(m.cursor.takeLine().slice(1, -1)),
  V: m => m.push(m.cursor.takeLine()),
  T: m => m.push(m.cursor.takeLatin1(m.cursor.takeUint32())),
  U: m => m.push(m.cursor.takeLatin1(m.cursor.takeUint8())),
  X: m => m.push(m.cursor.takeUtf8(m.cursor.takeUint32())),
  B: m => m.push(m.cursor.take(m.cursor.takeUint32())),
  C: m => m.push(m.cursor.take(m.cursor.takeUint8())),
  ')': m => m.push(sequence('tuple', [])),
  t: m => m.push(sequence('tuple', m.popToMark())),
  ']': m => m.push(sequence('list', [])),
  l: m => m.push(sequence('list', m.popToMark())),
  a: m => appendOne(m),
  e: m => m.append(m.popToMark()),
  '}': m => m.push({ kind: 'dict', entries: [] }),
  d: m => makeDict(m),
  s: m => m.setItems(m.popMany(2)),
  u: m => m.setItems(m.popToMark()),
  c: m => m.pushGlobal(m.cursor.takeLine(), m.cursor.takeLine()),
  R: m => m.call(),
  b: m => m.build(),
  i: m => makeInst(m),
  o: m => makeObj(m),
  P: m => m.load(m.cursor.takeLine()),
  Q: m => m.load(m.pop()),
  p: m => m.memoize(Number(m.cursor.takeLine())),
  q: m => m.memoize(m.cursor.takeUint8()),
  r: m => m.memoize(m.cursor.takeUint32()),
  g: m => m.recall(Number(m.cursor.takeLine())),
  h: m => m.recall(m.cursor.takeUint8()),
  j: m => m.recall(m.cursor.takeUint32()),
};

const BY_CODE: readonly (readonly [number, Step])[] = [
  [0x80, m => m.cursor.skip(1)], // PROTO
  [0x81, m => makeNew(m)], // NEWOBJ
  [0x85, m => m.push(sequence('tuple', m.popMany(1)))],
  [0x86, m => m.push(sequence('tuple', m.popMany(2)))],
  [0x87, m => m.push(sequence('tuple', m.popMany(3)))],
  [0x88, m => m.push(true)],
  [0x89, m => m.push(false)],
  [0x8a, m => m.push(takeLong(m.cursor, m.cursor.takeUint8()))],
  [0x8b, m => m.push(takeLong(m.cursor, m.cursor.takeUint32()))],
  [0x8c, m => m.push(m.cursor.takeUtf8(m.cursor.takeUint8()))],
  [0x8d, m => m.push(m.cursor.takeUtf8(m.cursor.takeSize()))],
  [0x8e, m => m.push(m.cursor.take(m.cursor.takeSize()))],
  [0x8f, m => m.push(sequence('set', []))],
  [0x90, m => m.append(m.popToMark())],
  [0x91, m => m.push(sequence('set', m.popToMark()))],
  [0x92, m => makeNewWithNames(m)], // NEWOBJ_EX
  [0x93, m => pushStackGlobal(m)],
  [0x94, m => m.memoize()],
  [0x95, m => m.cursor.skip(8)], // FRAME
];

const STEPS: ReadonlyMap<number, Step> = new Map([
  ...Object.entries(BY_LETTER).map(([letter, step]) => [letter.charCodeAt(0), step] as const),
  ...BY_CODE,
]);

function appendOne<T>(machine: Machine<T>): void {
  const value = machine.pop();
  machine.append([value]);
}

function makeDict<T>(machine: Machine<T>): void {
  const dict: PickleDict<T> = { kind: 'dict', entries: [] };
  addPairs(dict, machine.popToMark());
  machine.push(dict);
}

function makeInst<T>(machine: Machine<T>): void {
  machine.pushGlobal(machine.cursor.takeLine(), machine.cursor.takeLine());
  const target = machine.pop();
  machine.makeInstance(target, machine.popToMark());
}

function makeObj<T>(machine: Machine<T>): void {
  const [target = null, ...args] = machine.popToMark();
  machine.makeInstance(target, args);
}

function makeNew<T>(machine: Machine<T>): void {
  const args = machine.pop();
  machine.makeInstance(machine.pop(), isKind(args, 'tuple') ? args.items : []);
}

function makeNewWithNames<T>(machine: Machine<T>): void {
  machine.pop();
  makeNew(machine);
}

function pushStackGlobal<T>(machine: Machine<T>): void {
  const name = machine.popText();
  machine.pushGlobal(machine.popText(), name);
}

function addPairs<T>(dict: PickleDict<T>, values: readonly PickleValue<T>[]): void {
  if (values.length % 2 !== 0) throw malformed('a dictionary has a key without a value');
  for (let i = 0; i < values.length; i += 2) dict.entries.push([values[i] ?? null, values[i + 1] ?? null]);
}

/** An integer, as a number if it is safe. Protocol 0 writes booleans as 00 and 01. */
function parseInteger(text: string): number | bigint | boolean {
  if (text === '00' || text === '01') return text === '01';
  if (!/^-?\d{1,600}$/.test(text)) throw malformed('an integer is malformed');
  return narrow(BigInt(text));
}

/** Little-endian two's complement of any length. */
function takeLong(cursor: ByteCursor, length: number): number | bigint {
  if (length > MAX_LONG_BYTES) throw malformed(`an integer has ${length} bytes`);
  const bytes = cursor.take(length);
  const unsigned = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return narrow(BigInt.asIntN(8 * length, unsigned));
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function malformed(reason: string): TensorError {
  return new TensorError('pickle-malformed', `the pickle is malformed: ${reason}`);
}

function unsafe(path: string): TensorError {
  return new TensorError(
    'unsafe-global',
    `the pickle refers to ${path}, which is not on the list of allowed names: the whole file is rejected`,
    {
      details: { global: path },
      help: 'save a plain state dict: torch.save(model.state_dict(), path)',
    },
  );
}

function wholeModule(path: string): TensorError {
  return new TensorError(
    'whole-module',
    `the pickle contains an object of class ${path}, but only tensors are supported: save model.state_dict() in the environment that wrote the file`,
    {
      details: { class: path },
      help: 'torch.save(model.state_dict(), path)',
    },
  );
}
