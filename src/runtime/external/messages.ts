/** The messages between client and runner: closed types of frame headers, and the parser of answers. */
import type { Digest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import {
  fields,
  formatJsonProblems,
  integer,
  type JsonReader,
  list,
  literal,
  number,
  readJsonShape,
  record,
  text,
} from '../../base/json-shape.js';
import { DTYPES, type DType } from '../../tensor/dtype.js';
import type { Placement, PlacementShare, RunnerIdentity } from '../device/runner.js';
import type { DeviceKind } from '../device/runner-params.js';
import { RunnerError } from './runner-error.js';

export const PROTOCOL_VERSION = 1;

/** Each request has one answer of the same type, or an `error`. */
export type Request =
  | {
      readonly type: 'hello';
      readonly protocol: number;
      readonly device: DeviceKind;
      readonly label: string;
      readonly cpuFallback: 'refuse' | 'allow';
    }
  | { readonly type: 'load'; readonly model: ModelReference; readonly session: JsonObject; readonly options: JsonObject }
  | {
      readonly type: 'run';
      readonly session: number;
      readonly warmup: number;
      readonly repeats: number;
      readonly inputs: readonly TensorHeader[];
      readonly outputs: readonly string[];
    }
  | { readonly type: 'unload'; readonly session: number }
  | { readonly type: 'bye' };

/** `path` is present if the runner reads the file; otherwise the payload is the model. */
export type ModelReference = { readonly name: string; readonly digest: Digest; readonly sizeBytes: number; readonly path?: string };

/** Payload sizes in `bytes`, in the order of the headers, without gaps. */
export type TensorHeader = { readonly name: string; readonly dtype: DType; readonly dims: readonly number[]; readonly bytes: number };

/** A free size is null. */
export type ValueHeader = { readonly name: string; readonly dtype: DType; readonly dims: readonly (number | null)[] };

export interface Answers {
  readonly hello: { readonly protocol: number; readonly identity: RunnerIdentity };
  readonly load: { readonly session: number; readonly inputs: readonly ValueHeader[]; readonly outputs: readonly ValueHeader[] };
  readonly run: { readonly outputs: readonly TensorHeader[]; readonly durationsMs: readonly number[]; readonly placement: Placement };
  readonly unload: object;
  readonly bye: object;
}

const anyText: JsonReader<string> = (value, path, problems) => (value === '' ? '' : text()(value, path, problems));

/** Like `list`, but may be empty. */
function listOf<T>(member: JsonReader<T>): JsonReader<readonly T[]> {
  return (value, path, problems) => (Array.isArray(value) && value.length === 0 ? [] : list(member)(value, path, problems));
}

const dtype = literal(...(Object.keys(DTYPES) as DType[]));
const freeDim: JsonReader<number | null> = (value, path, problems) => (value === null ? null : integer(0)(value, path, problems));
const value = fields<ValueHeader>({ name: text(), dtype, dims: listOf(freeDim) });
const device = literal<DeviceKind>('npu', 'gpu', 'cpu');

const ANSWERS: { readonly [Type in keyof Answers]: JsonReader<Answers[Type]> } = {
  hello: fields<Answers['hello']>({
    protocol: integer(0),
    identity: fields<RunnerIdentity>({
      runner: fields({ name: text(), version: text() }),
      provider: text(),
      device: fields({ kind: device, name: text(), driver: anyText }),
      versions: record(anyText, () => undefined),
    }) as JsonReader<RunnerIdentity>,
  }),
  load: fields<Answers['load']>({ session: integer(0), inputs: list(value), outputs: list(value) }),
  run: fields<Answers['run']>({
    outputs: list(fields<TensorHeader>({ name: text(), dtype, dims: listOf(integer(0)), bytes: integer(0) })),
    durationsMs: list(number({ min: 0 })),
    placement: list(fields<PlacementShare>({ device, provider: text(), nodes: integer(0) })),
  }),
  unload: fields<object>({}),
  bye: fields<object>({}),
};

/** The answer to a request. @throws RunnerError `runner-refused` for an `error` from the runner, `runner-protocol` for any other invalid message. */
export function readAnswer<Type extends keyof Answers>(header: JsonObject, id: number, type: Type): Answers[Type] {
  const { id: answered, type: given, ...members } = header;
  if (answered !== id) throw malformed(type, [`it answers request ${JSON.stringify(answered)}, expected ${id}`]);
  if (given === 'error') throw refused(type, members);
  if (given !== type) throw malformed(type, [`its type is ${JSON.stringify(given)}, expected ${JSON.stringify(type)}`]);
  const read = readJsonShape<Answers[Type]>(ANSWERS[type], members);
  if (read.kind === 'problems') throw malformed(type, formatJsonProblems(read.problems));
  return read.value;
}

function refused(type: string, { code, message }: { readonly [name: string]: Json | undefined }): RunnerError {
  const reason = typeof message === 'string' ? message : JSON.stringify(message ?? null);
  return new RunnerError('runner-refused', `the runner reported an error for "${type}": ${reason}`, {
    details: { code: typeof code === 'string' ? code : null },
  });
}

function malformed(type: string, problems: readonly string[]): RunnerError {
  return new RunnerError('runner-protocol', `the answer to "${type}" violates the protocol: ${problems.join('; ')}`, {
    help: 'see docs/runner-protocol.md for the form of every message',
  });
}
