/** A bare client of ByteStream on grpc-js, which digests what it moves and does nothing else: the yardstick of the throughput. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { METHODS } from '../../src/remote/grpc/methods.js';
import { REQUEST_METADATA } from '../../src/remote/wire/reapi.js';

const PIECE_BYTES = 1 << 20;

export interface BareClient {
  upload(path: string, hash: string, sizeBytes: number): Promise<void>;
  download(path: string, hash: string, sizeBytes: number): Promise<void>;
  close(): void;
}

export function openBareClient(port: number): BareClient {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc-node.flow_control_window': 8 << 20,
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new Metadata();
  metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', Buffer.from(REQUEST_METADATA.encode({})));
  const { read, write } = METHODS;
  return {
    async upload(path, hash, sizeBytes) {
      const digest = createHash('sha256');
      const resourceName = `main/uploads/${randomUUID()}/blobs/${hash}/${sizeBytes}`;
      await new Promise<void>((resolve, reject) => {
        const encode = (message: object): Buffer => Buffer.from(write.question.encode(message));
        const call = client.makeClientStreamRequest(write.path, encode, write.answer.decode, metadata, error =>
          error === null ? resolve() : reject(error),
        );
        const send = async (): Promise<void> => {
          let writeOffset = 0;
          for await (const data of createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>) {
            digest.update(data);
            const end = writeOffset + data.length;
            const piece = { resourceName: writeOffset === 0 ? resourceName : '', writeOffset, finishWrite: end === sizeBytes, data };
            if (!call.write(piece)) await new Promise(go => call.once('drain', go));
            writeOffset = end;
          }
          if (digest.digest('hex') !== hash) throw new Error('the file has other bytes than its digest states');
          call.end();
        };
        send().catch(reject);
      });
    },
    async download(path, hash, sizeBytes) {
      const digest = createHash('sha256');
      const file = await open(path, 'w');
      try {
        const encode = (message: object): Buffer => Buffer.from(read.question.encode(message));
        const question = { resourceName: `main/blobs/${hash}/${sizeBytes}`, readOffset: 0 };
        const call = client.makeServerStreamRequest(read.path, encode, read.answer.decode, question, metadata);
        for await (const { data } of call as AsyncIterable<{ data: Uint8Array }>) {
          digest.update(data);
          await file.write(data);
        }
      } finally {
        await file.close();
      }
      if (digest.digest('hex') !== hash) throw new Error('other bytes arrived than the digest states');
    },
    close: () => client.close(),
  };
}
