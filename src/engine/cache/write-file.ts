/** How does a file appear as a whole or not at all? Written under another name, flushed, renamed. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** How names of files end that are not whole yet: what a kill leaves of them is no damage. */
const UNFINISHED = '.tmp';

export function isUnfinished(path: string): boolean {
  return path.endsWith(UNFINISHED);
}

/** Writes `content` to `path` by way of a temporary name beside it. `flush`: survive a power cut too. */
export async function writeWhole(path: string, content: string | Uint8Array, flush: 'flush' | 'no-flush' = 'flush'): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
  await withFolder(path, async () => {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      if (flush === 'flush') await file.datasync();
    } finally {
      await file.close();
    }
  });
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Runs `action`, which needs the folder of `path`; makes the folder only where it is missing. */
export async function withFolder(path: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await action();
  }
}
