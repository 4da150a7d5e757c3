/** The allow-list of callables in torch pickles. Tensors become descriptions of views; no storage is read. */

import type { RawTensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { isKind, type PickleHooks, type PickleValue } from './pickle-value.js';

type DType = RawTensor['dtype'];

/** A storage as declared in the pickle. */
export interface StorageRef {
  readonly kind: 'storage';
  readonly key: string;
  readonly dtype: DType;
  /** Declared number of elements. */
  readonly count: bigint;
  /** Start of a view of a storage (legacy format), in elements. */
  readonly start: bigint;
}

/** A tensor as declared in the pickle, not yet checked. */
export interface TensorRef {
  readonly kind: 'tensor';
  readonly storage: StorageRef;
  readonly dtype: DType;
  /** In elements of the dtype of the tensor. */
  readonly offset: bigint;
  readonly dims: readonly bigint[];
  readonly strides: readonly bigint[];
}

/** A storage class or a dtype, with its element type. */
interface ElementType {
  readonly kind: 'element-type';
  readonly dtype: DType;
}

export type TorchObject = StorageRef | TensorRef | ElementType | { readonly kind: 'plain' };
export type TorchValue = PickleValue<TorchObject>;

const STORAGES: Readonly<Record<string, DType>> = {
  FloatStorage: 'float32',
  DoubleStorage: 'float64',
  HalfStorage: 'float16',
  BFloat16Storage: 'bfloat16',
  CharStorage: 'int8',
  ByteStorage: 'uint8',
  ShortStorage: 'int16',
  IntStorage: 'int32',
  LongStorage: 'int64',
  BoolStorage: 'bool',
  ComplexFloatStorage: 'complex64',
  ComplexDoubleStorage: 'complex128',
};

const DTYPES: Readonly<Record<string, DType>> = {
  float32: 'float32',
  float: 'float32',
  float64: 'float64',
  double: 'float64',
  float16: 'float16',
  half: 'float16',
  bfloat16: 'bfloat16',
  int8: 'int8',
  uint8: 'uint8',
  int16: 'int16',
  short: 'int16',
  uint16: 'uint16',
  int32: 'int32',
  int: 'int32',
  uint32: 'uint32',
  int64: 'int64',
  long: 'int64',
  uint64: 'uint64',
  bool: 'bool',
  complex64: 'complex64',
  complex128: 'complex128',
  float8_e4m3fn: 'float8e4m3fn',
  float8_e4m3fnuz: 'float8e4m3fnuz',
  float8_e5m2: 'float8e5m2',
  float8_e5m2fnuz: 'float8e5m2fnuz',
  float8_e8m0fnu: 'float8e8m0',
};

const ELEMENT_TYPES = new Map<string, DType>([
  ...Object.entries(STORAGES).flatMap(([name, dtype]) => [[`torch.${name}`, dtype] as const, [`torch.storage.${name}`, dtype] as const]),
  ...Object.entries(DTYPES).map(([name, dtype]) => [`torch.${name}`, dtype] as const),
  ['torch.storage.UntypedStorage', 'uint8'],
  ['torch.UntypedStorage', 'uint8'],
]);

type Call = (args: readonly TorchValue[]) => TorchValue;

const PLAIN: TorchValue = { kind: 'object', value: { kind: 'plain' } };

const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['collections.OrderedDict', args => makeDict(args)],
  ['builtins.dict', args => makeDict(args)],
  ['__builtin__.dict', args => makeDict(args)],
  ['collections.defaultdict', () => makeDict([])],
  ['builtins.set', args => makeSet(args)],
  ['__builtin__.set', args => makeSet(args)],
  ['torch.Size', args => args[0] ?? { kind: 'tuple', items: [] }],
  ['torch.device', () => PLAIN],
  ['_codecs.encode', ([text]) => (typeof text === 'string' ? text : PLAIN)],
  ['torch._utils._rebuild_tensor', args => rebuildTensor(args)],
  ['torch._utils._rebuild_tensor_v2', args => rebuildTensor(args)],
  ['torch._utils._rebuild_tensor_v3', args => rebuildTensor(args, args[6])],
  ['torch._utils._rebuild_parameter', ([data = null]) => data],
  ['torch._utils._rebuild_parameter_with_state', ([data = null]) => data],
]);

/** The hooks for `decodePickle`, which throw TensorError `whole-module`, `checkpoint-malformed`. */
export const torchHooks: PickleHooks<TorchObject> = {
  isAllowed: path => CALLS.has(path) || ELEMENT_TYPES.has(path),
  call: (path, args) => {
    const call = CALLS.get(path);
    if (call === undefined) throw malformed(`${path} is called, which is a type`);
    return call(args);
  },
  load: id => ({ kind: 'object', value: loadStorage(id) }),
};

function makeDict(args: readonly TorchValue[]): TorchValue {
  const [pairs] = args;
  if (pairs === undefined) return { kind: 'dict', entries: [] };
  if (!isKind(pairs, 'list') && !isKind(pairs, 'tuple')) throw malformed('a dictionary is not made from a list of pairs');
  return {
    kind: 'dict',
    entries: pairs.items.map(pair => {
      if (!isKind(pair, 'list') && !isKind(pair, 'tuple')) throw malformed('a dictionary is not made from a list of pairs');
      const [key = null, value = null] = pair.items;
      return [key, value];
    }),
  };
}

function makeSet(args: readonly TorchValue[]): TorchValue {
  const [items] = args;
  return { kind: 'set', items: isKind(items, 'list') || isKind(items, 'tuple') ? items.items : [] };
}

/** ('storage', type, key, location, count[, view]) in both formats; ('module', class, source file, source) in old whole modules. */
function loadStorage(id: TorchValue): StorageRef {
  const parts = isKind(id, 'tuple') ? id.items : [];
  const [tag, type, key, , count, view] = parts;
  if (tag === 'module' && isKind(type, 'global')) {
    throw new TensorError(
      'whole-module',
      `the pickle contains the module class ${type.path}; save model.state_dict() in the environment that wrote the file`,
    );
  }
  if (tag !== 'storage') throw malformed('a persistent id is not a storage');
  const viewParts = isKind(view, 'tuple') ? view.items : [];
  return {
    kind: 'storage',
    key: typeof key === 'string' ? key : String(toBigInt(key, 'a storage key')),
    dtype: elementType(type),
    count: toBigInt(count, 'the size of a storage'),
    start: viewParts.length === 0 ? 0n : toBigInt(viewParts[1], 'the start of a storage view'),
  };
}

function rebuildTensor(args: readonly TorchValue[], type?: TorchValue): TorchValue {
  const [storage, offset, dims, strides] = args;
  if (!isKind(storage, 'object') || storage.value.kind !== 'storage') throw malformed('a tensor has no storage');
  const value: TensorRef = {
    kind: 'tensor',
    storage: storage.value,
    dtype: type === undefined ? storage.value.dtype : elementType(type),
    offset: toBigInt(offset, 'the offset of a tensor'),
    dims: toBigInts(dims, 'the size of a tensor'),
    strides: toBigInts(strides, 'the strides of a tensor'),
  };
  return { kind: 'object', value };
}

function elementType(value: TorchValue | undefined): DType {
  const dtype = isKind(value, 'global') ? ELEMENT_TYPES.get(value.path) : undefined;
  if (dtype === undefined) throw malformed('a storage has an unknown element type');
  return dtype;
}

function toBigInts(value: TorchValue | undefined, what: string): readonly bigint[] {
  if (!isKind(value, 'tuple') && !isKind(value, 'list')) throw malformed(`${what} is not a tuple`);
  return value.items.map(item => toBigInt(item, what));
}

function toBigInt(value: TorchValue | undefined, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw malformed(`${what} is not an integer`);
}

function malformed(reason: string): TensorError {
  return new TensorError('checkpoint-malformed', `the torch checkpoint is malformed: ${reason}`);
}
