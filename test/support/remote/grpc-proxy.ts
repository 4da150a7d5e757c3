/** A proxy in front of a server of the Remote Execution API, which counts the messages that pass and injects a fault at any of them. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  Client,
  credentials,
  Metadata,
  Server,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { METHODS } from '../../../src/remote/grpc/methods.js';
import { bindServer } from './bind-server.js';

export type MethodName = keyof typeof METHODS;

/** A message on its way: the number of messages before it in this proxy, its method, and its direction. */
export interface Passing {
  readonly number: number;
  readonly method: MethodName;
  readonly direction: 'to-server' | 'to-client';
  readonly bytes: Buffer;
}

export type Fault =
  | { readonly kind: 'status'; readonly code: number; readonly details?: string; readonly trailer?: Buffer }
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'replace'; readonly bytes: Buffer };

export interface GrpcProxy {
  readonly port: number;
  /** Number of messages so far. */
  messages(): number;
  close(): Promise<void>;
}

type Failed = { readonly code: number; readonly details: string; readonly metadata: Metadata };

/** Methods whose answer is a stream. */
const STREAMED: ReadonlySet<MethodName> = new Set(['read', 'execute', 'waitExecution']);

const same = (bytes: Buffer): Buffer => bytes;

/** @param fault called for each message; undefined lets it pass. */
export async function startGrpcProxy(upstream: number, fault: (message: Passing) => Fault | undefined): Promise<GrpcProxy> {
  let messages = 0;
  const client = new Client(`127.0.0.1:${upstream}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  });
  const server = new Server({ 'grpc.max_receive_message_length': -1 });

  /** The message to pass on. @throws Failed. */
  const pass = async (method: MethodName, direction: Passing['direction'], bytes: Buffer): Promise<Buffer> => {
    const found = fault({ number: messages++, method, direction, bytes });
    switch (found?.kind) {
      case 'hang':
        return new Promise(() => undefined);
      case 'delay':
        await wait(found.ms);
        return bytes;
      case 'replace':
        return found.bytes;
      case 'status': {
        const metadata = new Metadata();
        if (found.trailer !== undefined) metadata.set('grpc-status-details-bin', found.trailer);
        throw { code: found.code, details: found.details ?? 'injected', metadata };
      }
      default:
        return bytes;
    }
  };
  const sent = (metadata: Metadata): Metadata => {
    const copy = new Metadata();
    for (const name of ['authorization', 'build.bazel.remote.execution.v2.requestmetadata-bin'])
      for (const value of metadata.get(name)) copy.add(name, value);
    return copy;
  };

  const unary = (name: MethodName) => (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
    const forward = async (): Promise<Buffer> => {
      const question = await pass(name, 'to-server', call.request);
      const answer = await new Promise<Buffer>((resolve, reject) => {
        client.makeUnaryRequest(METHODS[name].path, same, same, question, sent(call.metadata), (error, value) =>
          error === null && value !== undefined ? resolve(value) : reject(error),
        );
      });
      return pass(name, 'to-client', answer);
    };
    forward().then(
      answer => done(null, answer),
      (error: Failed) => done({ code: error.code, details: error.details, metadata: error.metadata }),
    );
  };
  const read =
    (name: MethodName) =>
    (call: ServerWritableStream<Buffer, Buffer>): void => {
      const forward = async (): Promise<void> => {
        const question = await pass(name, 'to-server', call.request);
        const upper = client.makeServerStreamRequest(METHODS[name].path, same, same, question, sent(call.metadata));
        call.on('cancelled', () => upper.cancel());
        for await (const bytes of upper as AsyncIterable<Buffer>)
          if (!call.write(await pass(name, 'to-client', bytes))) await new Promise(resolve => call.once('drain', resolve));
        call.end();
      };
      forward().catch((error: Failed) => call.emit('error', { code: error.code, details: error.details, metadata: error.metadata }));
    };
  const write = (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>): void => {
    const forward = async (): Promise<Buffer> => {
      let settle: (error: unknown, value?: Buffer) => void = () => undefined;
      const answered = new Promise<Buffer>((resolve, reject) => {
        settle = (error, value) => (error === null && value !== undefined ? resolve(value) : reject(error));
      });
      answered.catch(() => undefined);
      const upper = client.makeClientStreamRequest(METHODS.write.path, same, same, sent(call.metadata), settle);
      upper.on('error', () => undefined);
      try {
        for await (const bytes of call as AsyncIterable<Buffer>) upper.write(await pass('write', 'to-server', bytes));
      } catch (error) {
        upper.cancel();
        throw error;
      }
      upper.end();
      return pass('write', 'to-client', await answered);
    };
    forward().then(
      answer => done(null, answer),
      (error: Failed) => done({ code: error.code, details: error.details, metadata: error.metadata }),
    );
  };

  const raw = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
  const names = Object.keys(METHODS) as MethodName[];
  const definition = Object.fromEntries(
    names.map(name => [name, { path: METHODS[name].path, requestStream: name === 'write', responseStream: STREAMED.has(name), ...raw }]),
  );
  const handler = (name: MethodName): unknown => (STREAMED.has(name) ? read(name) : name === 'write' ? write : unary(name));
  const implementation = Object.fromEntries(names.map(name => [name, handler(name)]));
  server.addService(definition as never, implementation as never);
  const port = await bindServer(server);
  return {
    port,
    messages: () => messages,
    async close() {
      server.forceShutdown();
      client.close();
    },
  };
}
