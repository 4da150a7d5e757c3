/** The state of a pickle decoder: stack, marks and memo, and the operations that opcodes apply to them. */
import type { ByteCursor } from './byte-cursor.js';
import { malformed, unsafe, wholeModule } from './pickle-error.js';
import { isKind, type PickleDict, type PickleGlobal, type PickleHooks, type PickleValue } from './pickle-value.js';

export class PickleMachine<T> {
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

export function addPairs<T>(dict: PickleDict<T>, values: readonly PickleValue<T>[]): void {
  if (values.length % 2 !== 0) throw malformed('a dictionary has a key without a value');
  for (let i = 0; i < values.length; i += 2) dict.entries.push([values[i] ?? null, values[i + 1] ?? null]);
}
