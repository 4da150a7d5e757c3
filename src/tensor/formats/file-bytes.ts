/** Reading of a whole file into one aligned buffer, also beyond Node's limit for one read. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { codeOrText, hasCode, MISSING } from '../../base/system-error.js';
import { TensorError } from '../tensor-error.js';

const CHUNK_BYTES = 1 << 28;

/** The bytes of the file at `path`. @throws TensorError `file-missing`, `file-unreadable`, `truncated` (it shrank while it was read). */
export async function readFileBytes(path: string): Promise<Uint8Array> {
  const file = await openFile(path);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new TensorError('file-unreadable', `${basename(path)} is not a file`);
    const bytes = new Uint8Array(facts.size);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK_BYTES, bytes.length - at), at);
      if (bytesRead === 0) throw new TensorError('truncated', `${basename(path)} ends after ${at} of ${bytes.length} bytes`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasCode(error, ...MISSING)) throw new TensorError('file-missing', `the file ${basename(path)} does not exist`, { cause: error });
    throw new TensorError('file-unreadable', `${basename(path)} cannot be opened (${codeOrText(error)})`, { cause: error });
  }
}
