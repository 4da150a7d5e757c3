/** Decoder of Python pickles: a small stack machine that imports nothing and calls only hooks. Source: CPython's Lib/pickletools.py, protocols 0 to 5. */
import { ByteCursor } from './byte-cursor.js';
import { malformed } from './pickle-error.js';
import { addPairs, PickleMachine } from './pickle-machine.js';
import { parseInteger, takeLong } from './pickle-numbers.js';
import { isKind, type PickleDict, type PickleHooks, type PickleSequence, type PickleValue } from './pickle-value.js';

/**
 * Decodes one pickle from `start`; `end` is the offset after it.
 * A callable that is not allowed makes the whole pickle invalid, wherever it occurs.
 * @throws TensorError `unsafe-global` (names the callable), `whole-module` (names the class of the first object), `pickle-malformed`, `truncated`.
 */
export function decodePickle<T>(bytes: Uint8Array, hooks: PickleHooks<T>, start = 0): { value: PickleValue<T>; end: number } {
  const machine = new PickleMachine(new ByteCursor(bytes, 'the pickle', start), hooks);
  const { cursor } = machine;
  for (let opcode = cursor.takeUint8(); opcode !== STOP; opcode = cursor.takeUint8()) {
    const step = STEPS.get(opcode);
    if (step === undefined) throw malformed(`opcode 0x${opcode.toString(16)} at offset ${cursor.position - 1} is unknown`);
    step(machine);
  }
  return { value: machine.finish(), end: cursor.position };
}

const STOP = '.'.charCodeAt(0);

type Step = <T>(machine: PickleMachine<T>) => void;

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

function appendOne<T>(machine: PickleMachine<T>): void {
  const value = machine.pop();
  machine.append([value]);
}

function makeDict<T>(machine: PickleMachine<T>): void {
  const dict: PickleDict<T> = { kind: 'dict', entries: [] };
  addPairs(dict, machine.popToMark());
  machine.push(dict);
}

function makeInst<T>(machine: PickleMachine<T>): void {
  machine.pushGlobal(machine.cursor.takeLine(), machine.cursor.takeLine());
  const target = machine.pop();
  machine.makeInstance(target, machine.popToMark());
}

function makeObj<T>(machine: PickleMachine<T>): void {
  const [target = null, ...args] = machine.popToMark();
  machine.makeInstance(target, args);
}

function makeNew<T>(machine: PickleMachine<T>): void {
  const args = machine.pop();
  machine.makeInstance(machine.pop(), isKind(args, 'tuple') ? args.items : []);
}

function makeNewWithNames<T>(machine: PickleMachine<T>): void {
  machine.pop();
  makeNew(machine);
}

function pushStackGlobal<T>(machine: PickleMachine<T>): void {
  const name = machine.popText();
  machine.pushGlobal(machine.popText(), name);
}
