/** The mounts of this machine, with the options that a read-only bind mount in a sandbox has to keep. */
import { readFileSync } from 'node:fs';

export interface MountTable {
  /** Returns the options that a read-only view of `path` must keep. The kernel does not let a user namespace clear them. */
  lockedOptions(path: string): readonly string[];
  /** Returns the mount points below `path`. */
  below(path: string): readonly string[];
}

export function readMountTable(path = '/proc/self/mountinfo'): MountTable {
  return parseMountTable(readFileSync(path, 'utf8'));
}

/** Parses the table. Field 5 is the mount point, field 6 its options. @see proc(5), /proc/pid/mountinfo. */
export function parseMountTable(text: string): MountTable {
  const mounts = text
    .split('\n')
    .map(line => line.split(' '))
    .filter(fields => fields.length > 5)
    .map(fields => ({ point: unescapeField(fields[4] ?? ''), options: (fields[5] ?? '').split(',') }));
  return {
    lockedOptions(path) {
      // Among mounts with the longest matching path, the last one hides the others.
      const found = mounts
        .filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
        .reduce((best, mount) => (mount.point.length >= (best?.point.length ?? 0) ? mount : best), mounts[0]);
      return ['nosuid', 'nodev', 'noexec'].filter(option => found?.options.includes(option) === true);
    },
    below: path => mounts.map(({ point }) => point).filter(point => point.startsWith(`${path}/`)),
  };
}

function unescapeField(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Escapes a path as a field of fstab(5). */
export function escapeField(path: string): string {
  return path.replace(/[\s\\#]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
