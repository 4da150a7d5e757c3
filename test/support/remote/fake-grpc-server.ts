/** A cache in memory that speaks the Remote Execution API, with the habits of real servers as options. */
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  Metadata,
  Server,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { digestBytes } from '../../../src/base/digest.js';
import { METHODS } from '../../../src/remote/grpc/methods.js';
import type { Message, Of } from '../../../src/remote/wire/codec.js';
import {
  ACTION,
  ACTION_RESULT,
  EXECUTE_METADATA,
  EXECUTE_RESPONSE,
  type Operation,
  type STATUS,
  type WireResult,
} from '../../../src/remote/wire/reapi.js';
import { bindServer } from './bind-server.js';

export interface FakeServerOptions {
  readonly token?: string;
  /** Read at each call, so that a caller may change it. */
  latencyMs?: number;
  readonly batchBytes?: number;
  /** Methods that the server does not have. */
  readonly lacks?: readonly (keyof typeof METHODS)[];
  readonly digestFunctions?: readonly number[];
  readonly readOffset?: 'honored' | 'ignored';
  readonly updateEnabled?: boolean;
  /** Runs actions, as a worker does. Without it, the server executes nothing. Read at each call, so that a caller may change it. */
  worker?: FakeWorker;
  /** 'live': standard output can be read while the command runs. */
  logs?: 'live';
  /** Bytes that the server sends as the metadata of an operation. */
  metadata?: Uint8Array;
}

/** The end of an action: its result, or the status of an execution without one. */
export type FakeEnd = { readonly result: Partial<WireResult> } | { readonly status: Of<typeof STATUS> };

export type FakeWorker = (
  action: Of<typeof ACTION>,
  server: FakeServer,
  signal: AbortSignal,
  say?: (stdout: Buffer) => void,
) => Promise<FakeEnd>;

export interface FakeServer {
  readonly port: number;
  /** Bytes by "hash/size". */
  readonly blobs: Map<string, Buffer>;
  /** Encoded results by the hash of the action. */
  readonly results: Map<string, Uint8Array>;
  /** Names of the calls so far, in order. */
  readonly calls: string[];
  /** Every authorization header that arrived. */
  readonly tokens: Set<string>;
  close(): Promise<void>;
}

type Failure = { readonly code: status; readonly details: string };

function failure(code: status, details: string): Failure {
  return { code, details };
}

const refuse: FakeWorker = async () => {
  throw failure(status.UNIMPLEMENTED, 'no worker');
};

export async function startFakeServer(options: FakeServerOptions = {}): Promise<FakeServer> {
  const { token, batchBytes = 0, lacks = [], digestFunctions = [1], readOffset = 'honored', updateEnabled = true } = options;
  const blobs = new Map<string, Buffer>();
  const results = new Map<string, Uint8Array>();
  const uploads = new Map<string, Buffer[]>();
  const calls: string[] = [];
  const tokens = new Set<string>();

  const enter = async (name: string, metadata: Metadata): Promise<void> => {
    calls.push(name);
    const sent = metadata.get('authorization').map(String);
    for (const value of sent) tokens.add(value);
    const { latencyMs = 0 } = options;
    if (latencyMs > 0) await wait(latencyMs);
    if (metadata.get('build.bazel.remote.execution.v2.requestmetadata-bin').length === 0)
      throw failure(status.INVALID_ARGUMENT, 'RequestMetadata is missing');
    if (token !== undefined && !sent.includes(`Bearer ${token}`)) throw failure(status.UNAUTHENTICATED, 'the token is not valid');
  };
  const nameOf = (digest: { hash: string; sizeBytes: number } | undefined): string => `${digest?.hash}/${digest?.sizeBytes}`;
  const keep = (digest: { hash: string; sizeBytes: number } | undefined, data: Uint8Array): void => {
    if (digestBytes(data) !== digest?.hash || data.length !== digest.sizeBytes)
      throw failure(status.INVALID_ARGUMENT, 'the bytes do not match the digest');
    blobs.set(nameOf(digest), Buffer.from(data));
  };

  const logs = new Map<string, PassThrough>();
  const operations = new Map<string, { readonly abort: AbortController; readonly end: Promise<FakeEnd> }>();
  const begin = (digest: { hash: string; sizeBytes: number } | undefined): string => {
    const bytes = blobs.get(nameOf(digest));
    if (bytes === undefined) throw failure(status.NOT_FOUND, 'no action');
    const name = `operations/${operations.size}`;
    const abort = new AbortController();
    const said = new PassThrough();
    const end = (options.worker ?? refuse)(ACTION.decode(bytes), fake, abort.signal, data => void said.write(data));
    end.catch(() => undefined).finally(() => said.end());
    logs.set(`logs/${operations.size}`, said);
    operations.set(name, { abort, end });
    return name;
  };
  const answerOf = (name: string, end: FakeEnd): Partial<Operation> => {
    const result = 'result' in end ? ACTION_RESULT.decode(ACTION_RESULT.encode(end.result)) : undefined;
    const response = EXECUTE_RESPONSE.encode({ result, status: 'status' in end ? end.status : undefined });
    return {
      name,
      done: true,
      response: { typeUrl: 'type.googleapis.com/build.bazel.remote.execution.v2.ExecuteResponse', value: response },
    };
  };

  const handlers = {
    getCapabilities: () => ({
      cacheCapabilities: {
        digestFunctions,
        actionCacheUpdateCapabilities: { updateEnabled },
        maxBatchTotalSizeBytes: batchBytes,
        maxCasBlobSizeBytes: 0,
      },
      executionCapabilities: options.worker === undefined ? undefined : { digestFunction: 1, execEnabled: true },
      deprecatedApiVersion: undefined,
      lowApiVersion: { major: 2, minor: 0, patch: 0, prerelease: '' },
      highApiVersion: { major: 2, minor: 3, patch: 0, prerelease: '' },
    }),
    getResult: ({ actionDigest }: { actionDigest?: { hash: string } | undefined }) => {
      const found = results.get(actionDigest?.hash ?? '');
      if (found === undefined) throw failure(status.NOT_FOUND, 'no result');
      return METHODS.getResult.answer.decode(found);
    },
    updateResult: ({ actionDigest, actionResult }: { actionDigest?: { hash: string } | undefined; actionResult?: object | undefined }) => {
      if (!updateEnabled) throw failure(status.PERMISSION_DENIED, 'read only');
      results.set(actionDigest?.hash ?? '', METHODS.getResult.answer.encode(actionResult ?? {}));
      return actionResult ?? {};
    },
    findMissing: ({ blobDigests }: { blobDigests: readonly { hash: string; sizeBytes: number }[] }) => ({
      missingBlobDigests: blobDigests.filter(digest => !blobs.has(nameOf(digest))),
    }),
    batchUpdate: ({ requests }: { requests: readonly { digest: { hash: string; sizeBytes: number } | undefined; data: Uint8Array }[] }) => {
      if (batchBytes > 0 && requests.reduce((sum, { data }) => sum + data.length, 0) > batchBytes)
        throw failure(status.INVALID_ARGUMENT, 'the batch is too large');
      for (const { digest, data } of requests) keep(digest, data);
      return { responses: requests.map(({ digest }) => ({ digest, status: { code: 0, message: '', details: [] } })) };
    },
    batchRead: ({ digests }: { digests: readonly { hash: string; sizeBytes: number }[] }) => ({
      responses: digests.map(digest => {
        const data = blobs.get(nameOf(digest));
        const code = data === undefined ? status.NOT_FOUND : status.OK;
        return { digest, data: data ?? Buffer.alloc(0), status: { code, message: '', details: [] }, compressor: 0 };
      }),
    }),
    cancel: ({ name }: { name: string }) => {
      operations.get(name)?.abort.abort();
      return {};
    },
    queryWrite: ({ resourceName }: { resourceName: string }) => {
      const parts = uploads.get(resourceName);
      if (parts === undefined) throw failure(status.NOT_FOUND, 'no such upload');
      return { committedSize: parts.reduce((sum, part) => sum + part.length, 0), complete: false };
    },
  } as const;

  const server = new Server({ 'grpc.max_receive_message_length': 4 << 20 });
  const implementation: Record<string, unknown> = {};
  const definition: Record<string, object> = {};
  const define = (name: keyof typeof METHODS, requestStream: boolean, responseStream: boolean, handler: unknown): void => {
    if (lacks.includes(name)) return;
    const { path, question, answer } = METHODS[name] as { path: string; question: Message<object>; answer: Message<object> };
    definition[name] = {
      path,
      requestStream,
      responseStream,
      requestSerialize: (value: object) => Buffer.from(question.encode(value)),
      requestDeserialize: (bytes: Buffer) => question.decode(bytes),
      responseSerialize: (value: object) => Buffer.from(answer.encode(value)),
      responseDeserialize: (bytes: Buffer) => answer.decode(bytes),
    };
    implementation[name] = handler;
  };

  for (const [name, answer] of Object.entries(handlers)) {
    define(name as keyof typeof METHODS, false, false, (call: ServerUnaryCall<never, object>, done: sendUnaryData<object>) => {
      enter(name, call.metadata)
        .then(() => done(null, (answer as (question: never) => object)(call.request)))
        .catch((error: Failure) => done({ ...error, metadata: new Metadata() }));
    });
  }
  const follow = (method: 'execute' | 'waitExecution') => (call: ServerWritableStream<never, Partial<Operation>>) => {
    enter(method, call.metadata)
      .then(async () => {
        const asked = call.request as { name?: string; actionDigest?: { hash: string; sizeBytes: number } };
        const name = method === 'execute' ? begin(asked.actionDigest) : (asked.name ?? '');
        const operation = operations.get(name);
        if (operation === undefined) throw failure(status.NOT_FOUND, 'no such operation');
        const stdoutStreamName = options.logs === 'live' ? name.replace('operations', 'logs') : '';
        const metadata = options.metadata ?? EXECUTE_METADATA.encode({ stage: 3, stdoutStreamName });
        call.write({
          name,
          metadata: { typeUrl: 'type.googleapis.com/build.bazel.remote.execution.v2.ExecuteOperationMetadata', value: metadata },
        });
        call.write(answerOf(name, await operation.end));
        call.end();
      })
      .catch((error: Failure) => call.emit('error', { ...error, metadata: new Metadata() }));
  };
  define('execute', false, true, follow('execute'));
  define('waitExecution', false, true, follow('waitExecution'));
  define('read', false, true, (call: ServerWritableStream<{ resourceName: string; readOffset: number }, { data: Buffer }>) => {
    enter('read', call.metadata)
      .then(async () => {
        const { resourceName, readOffset: offset } = call.request;
        const log = logs.get(resourceName);
        if (log !== undefined) {
          for await (const data of log as AsyncIterable<Buffer>) call.write({ data });
          return void call.end();
        }
        const data = blobs.get(resourceName.split('/').slice(-2).join('/'));
        if (data === undefined) throw failure(status.NOT_FOUND, 'no such blob');
        for (let at = readOffset === 'honored' ? offset : 0; at < data.length; at += 1 << 16)
          if (!call.write({ data: data.subarray(at, at + (1 << 16)) })) await new Promise(resolve => call.once('drain', resolve));
        call.end();
      })
      .catch((error: Failure) => call.emit('error', { ...error, metadata: new Metadata() }));
  });
  define(
    'write',
    true,
    false,
    (call: ServerReadableStream<{ resourceName: string; writeOffset: number; data: Buffer }, object>, done: sendUnaryData<object>) => {
      const take = async (): Promise<object> => {
        await enter('write', call.metadata);
        let name = '';
        let parts: Buffer[] = [];
        for await (const { resourceName, writeOffset, data } of call) {
          if (resourceName !== '') {
            name = resourceName;
            parts = uploads.get(name) ?? [];
            uploads.set(name, parts);
          }
          if (writeOffset !== parts.reduce((sum, part) => sum + part.length, 0)) throw failure(status.OUT_OF_RANGE, 'wrong offset');
          parts.push(Buffer.from(data));
        }
        const [hash = '', size = ''] = name.split('/').slice(-2);
        const whole = Buffer.concat(parts);
        if (whole.length < Number(size)) throw failure(status.INVALID_ARGUMENT, 'the upload is not complete');
        keep({ hash, sizeBytes: Number(size) }, whole);
        uploads.delete(name);
        return { committedSize: whole.length };
      };
      take().then(
        answer => done(null, answer),
        (error: Failure) => done({ ...error, metadata: new Metadata() }),
      );
    },
  );
  server.addService(definition as never, implementation as never);
  const port = await bindServer(server);
  const fake: FakeServer = {
    port,
    blobs,
    results,
    calls,
    tokens,
    async close() {
      server.forceShutdown();
    },
  };
  return fake;
}
