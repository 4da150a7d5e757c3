/** Files that parts under way read, bounded by their bytes: stages with many parts at once do not fill the disk. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTurns } from './in-turn.js';

export interface BoundedFile<T> {
  readonly path: string;
  /** What `fill` returned. */
  readonly content: T;
  /** Removes the file; another one may then be written. */
  remove(): Promise<void>;
}

export interface BoundedFiles {
  /** Files are filled one after the other, as soon as there is room. Whoever keeps a file must not wait for another. */
  write<T>(name: string, fill: (path: string) => Promise<T>): Promise<BoundedFile<T>>;
}

export interface FileBounds {
  /** Files begin to wait at so many bytes. Default: 256 MB. */
  readonly bytes?: number;
  /** So many files never wait. Default: 4. */
  readonly files?: number;
}

/** @param folder an existing one. */
export function makeBoundedFiles(folder: string, { bytes: most = 256 << 20, files: few = 4 }: FileBounds = {}): BoundedFiles {
  const inTurn = makeTurns();
  let [files, bytes] = [0, 0];
  let wake = (): void => undefined;
  const waitForRoom = async (): Promise<void> => {
    while (files >= few && bytes >= most)
      await new Promise<void>(resolve => {
        wake = resolve;
      });
  };
  return {
    write: (name, fill) =>
      inTurn(async () => {
        await waitForRoom();
        const path = join(folder, name);
        const content = await fill(path);
        const { size } = await stat(path);
        files++;
        bytes += size;
        return {
          path,
          content,
          async remove() {
            await rm(path, { force: true });
            files--;
            bytes -= size;
            wake();
          },
        };
      }),
  };
}
