/** Single gRPC calls on one connection, each with a deadline. */
import { randomUUID } from 'node:crypto';
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientWritableStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { onAbort } from '../../base/on-abort.js';
import type { RemoteAddress } from '../address/remote-address.js';
import { type Connection, deadlineMs } from '../transport/remote-cache.js';
import { REQUEST_METADATA } from '../wire/reapi.js';
import { errorOfCall } from './call-status.js';
import { METHODS, type Method } from './methods.js';

/** Every method throws RemoteError. `sizeBytes` is what the call moves, for its deadline. */
export interface Channel {
  ask<Question, Answer>(method: Method<Question, Answer>, question: Partial<Question>, sizeBytes: number): Promise<Answer>;
  /** `onData` gets the pieces in order; the server is held back while its promise is pending. */
  read(resourceName: string, readOffset: number, sizeBytes: number, onData: (data: Uint8Array) => Promise<void>): Promise<void>;
  /** Receives messages until the stream ends. It has no deadline: the signal ends it. */
  listen<Question, Answer>(method: Method<Question, Answer>, question: Partial<Question>, how: Listening<Answer>): Promise<void>;
  /** Sends pieces until there are no more, or until the server has answered. */
  write(pieces: AsyncIterable<WritePiece>, sizeBytes: number): Promise<{ readonly committedSize: number }>;
  /** Removes the secrets of the connection from a text of the server. */
  readonly mask: (text: string) => string;
  close(): void;
}

export interface Listening<Answer> {
  /** What it throws ends the call. */
  readonly onMessage: (message: Answer) => void;
  readonly signal: AbortSignal;
}

export interface WritePiece {
  readonly resourceName: string;
  readonly writeOffset: number;
  readonly finishWrite: boolean;
  readonly data: Uint8Array;
}

/** Servers may send one message of this size, although the client asks for less. */
const MOST_MESSAGE_BYTES = 64 << 20;

/** The window in which data is under way: at 50 ms, 64 KiB would allow 1 MB/s. */
const WINDOW_BYTES = 8 << 20;

/** What the calls of a channel share. */
interface OpenChannel {
  readonly client: Client;
  readonly metadata: () => Metadata;
  readonly options: (sizeBytes: number) => CallOptions;
  readonly mask: (text: string) => string;
  /** The calls under way, which `close` cancels. */
  readonly calls: Set<Cancellable>;
}

interface Cancellable {
  cancel(): void;
}

type Settle<T> = (error: unknown, value?: T) => void;

export function openChannel(address: RemoteAddress, connection: Connection): Channel {
  const { headers, program, patience, mask } = connection;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  const tool = { toolName: program.name, toolVersion: program.version };
  const requestMetadata = Buffer.from(REQUEST_METADATA.encode({ toolDetails: tool, toolInvocationId: randomUUID() }));
  const channel: OpenChannel = {
    client: new Client(`${host}:${address.port}`, trustOf(address, connection), {
      'grpc.max_receive_message_length': MOST_MESSAGE_BYTES,
      'grpc.enable_retries': 0,
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 10_000,
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc-node.flow_control_window': WINDOW_BYTES,
      // A connection of its own, which `close` ends.
      'grpc.use_local_subchannel_pool': 1,
      // Without TLS, nothing may leave this machine: a proxy that the environment names would get it.
      'grpc.enable_http_proxy': address.security === 'tls' ? 1 : 0,
      'grpc.primary_user_agent': `${program.name}/${program.version}`,
    }),
    metadata() {
      const sent = new Metadata();
      for (const [name, value] of Object.entries(headers)) sent.set(name, value);
      // The reference worker refuses calls without it.
      sent.set('build.bazel.remote.execution.v2.requestmetadata-bin', requestMetadata);
      return sent;
    },
    mask,
    options: sizeBytes => ({ deadline: Date.now() + deadlineMs(patience, sizeBytes) }),
    calls: new Set(),
  };
  return {
    ask: (method, question, sizeBytes) => ask(channel, method, question, sizeBytes),
    read: (resourceName, readOffset, sizeBytes, onData) => read(channel, { resourceName, readOffset }, sizeBytes, onData),
    listen: (method, question, how) => listen(channel, method, question, how),
    write: (pieces, sizeBytes) => write(channel, pieces, sizeBytes),
    mask,
    close() {
      for (const call of channel.calls) call.cancel();
      channel.client.close();
    },
  };
}

function trustOf({ security }: RemoteAddress, { tls }: Connection): ChannelCredentials {
  if (security === 'plaintext') return credentials.createInsecure();
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.certificate ?? null);
}

/** Follows a call to its end, so that `close` can cancel it. */
async function follow<T>({ calls, mask }: OpenChannel, path: string, begin: (settle: Settle<T>) => Cancellable): Promise<T> {
  let call: Cancellable | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      call = begin((error, value) => (error === null ? resolve(value as T) : reject(toError(error, nameOf(path), mask))));
      calls.add(call);
    });
  } finally {
    if (call !== undefined) calls.delete(call);
  }
}

function ask<Question, Answer>(
  channel: OpenChannel,
  { path, question, answer }: Method<Question, Answer>,
  value: Partial<Question>,
  sizeBytes: number,
): Promise<Answer> {
  const { client, metadata, options } = channel;
  const encode = (message: typeof value): Buffer => Buffer.from(question.encode(message));
  return follow<Answer>(channel, path, settle =>
    client.makeUnaryRequest(path, encode, answer.decode, value, metadata(), options(sizeBytes), settle),
  );
}

function read(
  channel: OpenChannel,
  asked: { readonly resourceName: string; readonly readOffset: number },
  sizeBytes: number,
  onData: (data: Uint8Array) => Promise<void>,
): Promise<void> {
  const { client, metadata, options } = channel;
  const { path, question, answer } = METHODS.read;
  const encode = (message: typeof asked): Buffer => Buffer.from(question.encode(message));
  return follow<void>(channel, path, settle => {
    const call = client.makeServerStreamRequest(path, encode, answer.decode, asked, metadata(), options(sizeBytes));
    void takeAll(call, onData).then(
      () => settle(null),
      (error: unknown) => {
        call.cancel();
        settle(error);
      },
    );
    return call;
  });
}

function listen<Question, Answer>(
  channel: OpenChannel,
  { path, question, answer }: Method<Question, Answer>,
  value: Partial<Question>,
  { onMessage, signal }: Listening<Answer>,
): Promise<void> {
  const { client, metadata } = channel;
  const encode = (message: typeof value): Buffer => Buffer.from(question.encode(message));
  return follow<void>(channel, path, settle => {
    const call = client.makeServerStreamRequest(path, encode, answer.decode, value, metadata());
    const stop = onAbort(signal, () => call.cancel());
    call.on('data', message => {
      try {
        onMessage(message);
      } catch (error) {
        stop();
        call.cancel();
        settle(error);
      }
    });
    call.on('error', error => {
      stop();
      settle(error);
    });
    call.on('end', () => {
      stop();
      settle(null);
    });
    return call;
  });
}

function write(channel: OpenChannel, pieces: AsyncIterable<WritePiece>, sizeBytes: number): Promise<{ readonly committedSize: number }> {
  const { client, metadata, options } = channel;
  const { path, question, answer } = METHODS.write;
  const encode = (message: WritePiece): Buffer => Buffer.from(question.encode(message));
  return follow<{ committedSize: number }>(channel, path, settle => {
    let answered = false;
    const call = client.makeClientStreamRequest(path, encode, answer.decode, metadata(), options(sizeBytes), (error, found) => {
      answered = true;
      call.emit('drain');
      settle(error, found);
    });
    // The callback reports the same error.
    call.on('error', () => undefined);
    void sendAll(call, pieces, () => answered).catch((error: unknown) => {
      call.cancel();
      settle(error);
    });
    return call;
  });
}

async function takeAll(call: AsyncIterable<{ readonly data: Uint8Array }>, onData: (data: Uint8Array) => Promise<void>): Promise<void> {
  for await (const { data } of call) await onData(data);
}

async function sendAll(
  call: ClientWritableStream<WritePiece>,
  pieces: AsyncIterable<WritePiece>,
  isAnswered: () => boolean,
): Promise<void> {
  for await (const piece of pieces) {
    // A server that has the blob already answers before the end.
    if (isAnswered()) return;
    if (!call.write(piece) && !isAnswered()) await new Promise<void>(resolve => call.once('drain', () => resolve()));
  }
  if (!isAnswered()) call.end();
}

/** Errors of reading or writing a file, and of content, stay as they are. */
function toError(error: unknown, name: string, mask: (text: string) => string): unknown {
  return isServiceError(error) ? errorOfCall(error, name, mask) : error;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'details' in error && 'metadata' in error;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
