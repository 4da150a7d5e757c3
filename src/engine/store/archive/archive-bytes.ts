/** The bytes of an archive, read chunk by chunk from a file or a pipe. */
import { createReadStream } from 'node:fs';
import { EngineError, messageOf } from '../../model/engine-error.js';

export interface ArchiveBytes {
  /** Shown in messages. */
  readonly name: string;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Reading throws EngineError `archive-unreadable` if the file cannot be read. */
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
