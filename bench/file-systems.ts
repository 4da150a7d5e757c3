/** The file systems that builds are measured on: memory and disk, as far as this machine has both. */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

export interface FileSystem {
  readonly name: 'tmpfs' | 'disk';
  /** A folder on this file system for temporary projects. */
  readonly folder: string;
}

/** @see statfs(2), TMPFS_MAGIC. */
const TMPFS = 0x01021994;

export function findFileSystems(): readonly FileSystem[] {
  const memory = ['/dev/shm', tmpdir()].find(isInMemory);
  const disk = [tmpdir(), '/var/tmp'].find(folder => !isInMemory(folder));
  if (memory === undefined) console.log('no tmpfs here: measured on the disk alone');
  if (disk === undefined) console.log('no folder for temporary files on a disk: measured on tmpfs alone');
  return [
    ...(memory === undefined ? [] : [{ name: 'tmpfs', folder: memory } as const]),
    ...(disk === undefined ? [] : [{ name: 'disk', folder: disk } as const]),
  ];
}

function isInMemory(folder: string): boolean {
  try {
    return statfsSync(folder).type === TMPFS;
  } catch {
    // The folder does not exist.
    return false;
  }
}
