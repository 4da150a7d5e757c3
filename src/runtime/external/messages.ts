/** The messages between client and runner: closed types of frame headers, and the parser of answers. */
import type { Digest } from '../../base/digest.js';
import { formatJsonProblems, type JsonReader, readJsonShape } from '../../base/json/json-shape.js';
import type { Json, JsonObject } from '../../base/json.js';
import { keysOf } from '../../base/keys-of.js';
import { anyList, anyOf, integer, list, NULL, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { DTYPES } from '../../tensor/dtype.js';
import { PLACEMENT_SCHEMA, RUNNER_IDENTITY_SCHEMA } from '../device/runner-identity.js';
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

const DTYPE = oneOf(keysOf(DTYPES));

const TENSOR_SCHEMA = object({ name: text(), dtype: DTYPE, dims: anyList(integer(0)), bytes: integer(0) });

/** Payload sizes in `bytes`, in the order of the headers, without gaps. */
export type TensorHeader = FromSchema<typeof TENSOR_SCHEMA>;

const VALUE_SCHEMA = object({ name: text(), dtype: DTYPE, dims: anyList(anyOf([NULL, integer(0)]), 'A free size is null.') });

export type ValueHeader = FromSchema<typeof VALUE_SCHEMA>;

const ANSWER_SCHEMAS = {
  hello: object({ protocol: integer(0), identity: RUNNER_IDENTITY_SCHEMA }),
  load: object({ session: integer(0), inputs: list(VALUE_SCHEMA), outputs: list(VALUE_SCHEMA) }),
  run: object({ outputs: list(TENSOR_SCHEMA), durationsMs: list(number({ minimum: 0 })), placement: PLACEMENT_SCHEMA }),
  unload: object({}),
  bye: object({}),
} as const;

export type Answers = { readonly [Type in keyof typeof ANSWER_SCHEMAS]: FromSchema<(typeof ANSWER_SCHEMAS)[Type]> };

const ANSWERS: { readonly [Type in keyof Answers]: JsonReader<Answers[Type]> } = {
  hello: readerOf(ANSWER_SCHEMAS.hello),
  load: readerOf(ANSWER_SCHEMAS.load),
  run: readerOf(ANSWER_SCHEMAS.run),
  unload: readerOf(ANSWER_SCHEMAS.unload),
  bye: readerOf(ANSWER_SCHEMAS.bye),
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
