/** Writes the output files of a command: all files or none, with one error message if that fails. */
import { basename } from 'node:path';
import { CodedError, isCodedError } from '../../base/coded-error.js';
import { type NewFile, writeBeside } from '../../base/files/write-beside.js';
import { isSystemCallError } from '../../base/system-error.js';

/** @throws CodedError `not-writable`, `not-a-file`; errors of producing a file's content. */
export async function writeFiles(files: readonly NewFile[]): Promise<void> {
  try {
    await writeBeside(files, 'no-flush');
  } catch (error) {
    if (isCodedError(error) || !isSystemCallError(error)) throw error;
    const [first] = files;
    throw new CodedError('not-writable', `"${basename(first?.path ?? '')}" cannot be written: ${error.message}`, {
      cause: error,
      help: 'free space, make the folder writable, or name another place',
    });
  }
}
