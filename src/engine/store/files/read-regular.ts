/** Reading of files in folders that anybody may change: only regular files are read, so that no pipe or device blocks a process that may hold a lock. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** Opening a pipe for reading waits for a writer unless this flag is set. Windows has no such flag, and no such files. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The content of a regular file. @throws an error with the code EFTYPE if it is something else; file system errors. */
export function readRegular(path: string): Buffer {
  return withRegular(path, file => readFileSync(file));
}

/** What `use` returns for an open regular file, which is closed then. @throws as `readRegular`. */
export function withRegular<T>(path: string, use: (file: number, stats: Stats) => T): T {
  const file = openSync(path, AT_ONCE);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw Object.assign(new Error(`EFTYPE: ${path} is not a regular file`), { code: 'EFTYPE', syscall: 'read', path });
    return use(file, stats);
  } finally {
    closeSync(file);
  }
}

/** Like `readRegular`, decoded as UTF-8. */
export function readRegularText(path: string): string {
  return readRegular(path).toString();
}
