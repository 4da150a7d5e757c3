/** Lists of the tensors that a network expects, and the check of a state dict against them. */
import type { Json } from '../../base/json.js';
import { formatShape } from '../../tensor/shape.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';

/** Tensors by the parameter names of a framework. */
export type StateDict = ReadonlyMap<string, RawTensor>;

/** Undefined where the tensor that determines the size is missing. The missing key is reported instead. */
export type Size = number | undefined;

export interface ExpectedTensor {
  readonly key: string;
  readonly dims: readonly Size[];
  /** 'parameter': trained and counted. 'counter': num_batches_tracked, which may be missing and is not used. */
  readonly role: 'parameter' | 'buffer' | 'counter';
}

export function* weight(module: string, dims: readonly Size[]): Generator<ExpectedTensor> {
  yield { key: `${module}.weight`, dims, role: 'parameter' };
}

export function* withBias(module: string, dims: readonly Size[]): Generator<ExpectedTensor> {
  yield* weight(module, dims);
  yield { key: `${module}.bias`, dims: [dims[0]], role: 'parameter' };
}

/** A batch norm. `role` is 'buffer' where it is frozen. */
export function* norm(module: string, channels: Size, role: 'parameter' | 'buffer'): Generator<ExpectedTensor> {
  yield { key: `${module}.weight`, dims: [channels], role };
  yield { key: `${module}.bias`, dims: [channels], role };
  yield { key: `${module}.running_mean`, dims: [channels], role: 'buffer' };
  yield { key: `${module}.running_var`, dims: [channels], role: 'buffer' };
  yield { key: `${module}.num_batches_tracked`, dims: [], role: 'counter' };
}

export function times(size: Size, factor: number): Size {
  return size === undefined ? undefined : size * factor;
}

/** Number of different integers that follow `prefix`. It counts instead of taking the maximum, so that a key with a huge number does not give a huge network. */
export function countChildren(keys: Iterable<string>, prefix: string): number {
  const numbers = new Set<string>();
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const child = key.slice(prefix.length).split('.', 1)[0] ?? '';
    if (/^\d+$/.test(child)) numbers.add(child);
  }
  return numbers.size;
}

/** Number of problems of each kind in a message; the details have all. */
const SHOWN = 10;

/** Name of a network in messages, and the help where the keys share no prefix with it. */
export interface NetworkFamily {
  readonly name: string;
  readonly help: string;
}

/**
 * Asserts that `state` has exactly the expected tensors, with their shapes, as float32.
 * @throws DetectionError `checkpoint-mismatch` with every missing key, extra key, wrong shape and wrong dtype.
 */
export function checkStateDict(state: StateDict, expected: readonly ExpectedTensor[], family: NetworkFamily): void {
  const known = new Set(expected.map(({ key }) => key));
  const missing = expected.filter(({ key, role }) => role !== 'counter' && !state.has(key)).map(({ key }) => key);
  const extra = [...state.keys()].filter(key => !known.has(key));
  const wrong = expected.flatMap(one => mismatchOf(one, state));
  if (missing.length + extra.length + wrong.length === 0) return;
  const parts = [show('missing', missing), show('unexpected', extra), show('wrong', wrong)].filter(part => part !== '');
  const details: Json = { missing, unexpected: extra, wrong };
  const help = helpFor(state, expected, family);
  throw new DetectionError('checkpoint-mismatch', `the checkpoint is not a ${family.name}: ${parts.join('; ')}`, { details, help });
}

/** Number of trained parameters among the expected tensors, by the group of their keys. */
export function countTrained<G extends string>(
  expected: readonly ExpectedTensor[],
  groups: readonly G[],
  groupOf: (key: string) => G,
): Readonly<Record<G | 'total', number>> {
  const counts = new Map<G | 'total', number>([...groups, 'total' as const].map(group => [group, 0]));
  for (const { key, dims, role } of expected) {
    if (role !== 'parameter') continue;
    const count = dims.reduce((product: number, dim) => product * (dim ?? 0), 1);
    for (const group of [groupOf(key), 'total'] as const) counts.set(group, (counts.get(group) ?? 0) + count);
  }
  return Object.fromEntries(counts) as Record<G | 'total', number>;
}

function mismatchOf({ key, dims, role }: ExpectedTensor, state: StateDict): string[] {
  const tensor = state.get(key);
  if (tensor === undefined || role === 'counter') return [];
  const fits = tensor.dims.length === dims.length && dims.every((dim, axis) => dim === undefined || dim === tensor.dims[axis]);
  const shape = fits ? [] : [`${key} has shape ${formatShape(tensor.dims)}, expected ${formatShape(dims.map(dim => dim ?? '?'))}`];
  return tensor.dtype === 'float32' ? shape : [...shape, `${key} is ${tensor.dtype}, expected float32`];
}

function show(what: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const rest = items.length > SHOWN ? `, and ${items.length - SHOWN} more` : '';
  return `${items.length} ${what}: ${items.slice(0, SHOWN).join(', ')}${rest}`;
}

function helpFor(state: StateDict, expected: readonly ExpectedTensor[], { help }: NetworkFamily): string {
  const expectedKey = expected[0]?.key ?? '';
  const prefixed = [...state.keys()].find(key => key.endsWith(`.${expectedKey}`));
  return prefixed === undefined
    ? help
    : `every key starts with "${prefixed.slice(0, -expectedKey.length)}": save the state dict of the inner module, without this prefix`;
}
