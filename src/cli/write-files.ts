/** How does a command write what it finds out? All files or none, and one message where that cannot be. */
import { basename } from 'node:path';
import { CodedError, isCodedError } from '../base/coded-error.js';
import { type NewFile, writeBeside } from '../base/write-beside.js';

/** @throws CodedError `not-writable`, `not-a-file`; what making a file's content throws. */
export async function writeFiles(files: readonly NewFile[]): Promise<void> {
  try {
    await writeBeside(files, 'no-flush');
  } catch (error) {
    if (isCodedError(error) || !(error instanceof Error && 'syscall' in error)) throw error;
    const [first] = files;
    throw new CodedError('not-writable', `"${basename(first?.path ?? '')}" cannot be written: ${error.message}`, {
      cause: error,
      help: 'make room, or make the folder writable, or name another place',
    });
  }
}
