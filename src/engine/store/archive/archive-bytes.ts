/** Where are the bytes of an archive read from? A chunk at a time, out of a file or a pipe. */
import { createReadStream } from 'node:fs';
import { EngineError, messageOf } from '../../model/engine-error.js';

export interface ArchiveBytes {
  /** For messages. */
  readonly name: string;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Reading throws EngineError `archive-unreadable` where the file is not to be had. */
export function archiveAt(path: string): ArchiveBytes {
  return { name: path, chunks: readChunks(path) };
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw new EngineError('archive-unreadable', `${path} cannot be read: ${messageOf(error)}`, { help: 'check the path', cause: error });
  }
}
