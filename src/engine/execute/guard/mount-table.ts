/** What is mounted on this machine, and what must be known of it to show a folder read-only elsewhere? */
import { readFileSync } from 'node:fs';

export interface MountTable {
  /** Options that a read-only view of `path` has to keep: the kernel does not let a user namespace lift them. */
  lockedOptions(path: string): readonly string[];
  /** Mount points below `path`. */
  below(path: string): readonly string[];
}

export function readMountTable(path = '/proc/self/mountinfo'): MountTable {
  return parseMountTable(readFileSync(path, 'utf8'));
}

/** @see proc(5), /proc/pid/mountinfo: the fifth field is the mount point, the sixth its options. */
export function parseMountTable(text: string): MountTable {
  const mounts = text
    .split('\n')
    .map(line => line.split(' '))
    .filter(fields => fields.length > 5)
    .map(fields => ({ point: unescapeField(fields[4] ?? ''), options: (fields[5] ?? '').split(',') }));
  return {
    lockedOptions(path) {
      // The last one of the longest covers the others.
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

/** A field of fstab(5). */
export function escapeField(path: string): string {
  return path.replace(/[\s\\#]/g, char => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
