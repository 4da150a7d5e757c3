/** The root folder of a sandbox: an almost empty folder with a mount table. It is made here as plain files, and mounted inside the program's own namespace. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { GuardedRun } from './guard.js';
import { escapeField, type MountTable } from './mount-table.js';
import {
  DEVICES,
  isAmong,
  MACHINE_FACTS,
  NETWORK_SETTINGS,
  SHARED_MEMORY,
  SYSTEM_FOLDERS,
  SYSTEM_SETTINGS,
  TEMPORARY,
} from './system-places.js';

/**
 * The files of a box. `table` has the form of fstab(5).
 * `readOnly` has one line per mount that mount(8) must set read-only separately: options, a space, path.
 */
export const BOX_LAYOUT = { root: 'root', temporary: 'tmp', empty: 'empty', table: 'fstab', readOnly: 'read-only' } as const;

/** Creates the folder `box`, which must not exist. */
export function makeBox(box: string, run: GuardedRun, mounts: MountTable): void {
  const root = join(box, BOX_LAYOUT.root);
  const temporary = join(box, BOX_LAYOUT.temporary);
  const empty = join(box, BOX_LAYOUT.empty);
  for (const folder of [root, temporary, empty]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines: string[] = [];
  const readOnly: string[] = [];
  /** The mounts so far, by their target in the box. `own`: mount points can be created in it. */
  const covers: { readonly target: string; readonly source: string; readonly own: boolean }[] = [{ target: '/', source: root, own: true }];
  const coverOf = (target: string) => covers.findLast(cover => isAmong([cover.target], target)) ?? { target: '/', source: root, own: true };

  const makePoint = (target: string, form: 'folder' | 'file'): void => {
    const cover = coverOf(target);
    const point = join(cover.source, relative(cover.target, target));
    if (!cover.own || existsSync(point)) return;
    mkdirSync(form === 'folder' ? point : dirname(point), { recursive: true, mode: 0o755 });
    if (form === 'file') writeFileSync(point, '', { mode: 0o644 });
  };
  const mount = (source: string, target: string, type: string, options: string): void => {
    lines.push([source, join(root, target), type, options, '0', '0'].map(escapeField).join(' '));
  };
  const bind = (source: string, target: string, access: 'read' | 'write' | 'device'): void => {
    const isFolder = lstatSync(source).isDirectory();
    makePoint(target, isFolder ? 'folder' : 'file');
    const locked = mounts.lockedOptions(source);
    const options = access === 'read' ? ['ro', ...new Set(['nosuid', 'nodev', ...locked])] : [];
    mount(source, target, 'none', ['rbind', ...options].join(','));
    if (isFolder) covers.push({ target, source, own: source.startsWith(`${box}/`) });
    if (access !== 'read') return;
    for (const inner of mounts.below(source)) {
      const innerOptions = [...new Set(['nosuid', 'nodev', ...mounts.lockedOptions(inner)])].join(',');
      readOnly.push(`remount,bind,ro,${innerOptions} ${join(root, target, relative(source, inner))}`);
    }
  };
  /** Makes `path` visible. If it contains links, a link at the original path leads to the mount. */
  const show = (path: string, access: 'read' | 'write'): void => {
    if (!existsSync(path)) return;
    const real = realpathSync(path);
    if (access === 'write' || coverOf(real).own) bind(real, real, access);
    const cover = coverOf(path);
    const link = join(cover.source, relative(cover.target, path));
    if (real === path || !cover.own || lstatSync(link, { throwIfNoEntry: false }) !== undefined) return;
    mkdirSync(dirname(link), { recursive: true, mode: 0o755 });
    symlinkSync(real, link);
  };

  mount(root, '/', 'none', 'bind,ro,nosuid');
  for (const folder of SYSTEM_FOLDERS) showSystem(folder, root, source => bind(source, source, 'read'));
  for (const folder of TEMPORARY) bind(temporary, folder, 'write');
  for (const path of ['/proc', SHARED_MEMORY]) mkdirSync(join(root, path), { recursive: true });
  mount('proc', '/proc', 'proc', 'nosuid,nodev,noexec');
  // Mount points can be made in a folder of the box, but not in a file system that does not exist yet.
  const holdsFiles = [run.projectFolder, ...run.readable, ...run.writable].some(path => isAmong([SHARED_MEMORY], path));
  if (holdsFiles) bind(temporary, SHARED_MEMORY, 'write');
  else mount('tmpfs', SHARED_MEMORY, 'tmpfs', 'nosuid,nodev,mode=1777');
  for (const name of DEVICES) if (existsSync(`/dev/${name}`)) bind(`/dev/${name}`, `/dev/${name}`, 'device');
  for (const [name, target] of DEVICE_LINKS) symlinkSync(target, join(root, 'dev', name));
  if (existsSync(MACHINE_FACTS)) bind(MACHINE_FACTS, MACHINE_FACTS, 'read');
  for (const path of settingsFor(run.network)) {
    const real = realpathSync(path);
    if (lstatSync(real).isDirectory() || lstatSync(real).isFile()) bind(real, path, 'read');
  }
  // Otherwise a project below /opt would be visible, and one below /tmp would appear to accept writes.
  if (isAmong([...SYSTEM_FOLDERS, ...TEMPORARY, SHARED_MEMORY], run.projectFolder)) bind(empty, run.projectFolder, 'read');
  for (const path of run.readable) show(path, 'read');
  for (const path of run.writable) show(path, 'write');
  writeFileSync(join(box, BOX_LAYOUT.table), `${lines.join('\n')}\n`);
  writeFileSync(join(box, BOX_LAYOUT.readOnly), readOnly.map(line => `${line}\n`).join(''));
}

const DEVICE_LINKS = [
  ['fd', '/proc/self/fd'],
  ['stdin', '/proc/self/fd/0'],
  ['stdout', '/proc/self/fd/1'],
  ['stderr', '/proc/self/fd/2'],
] as const;

/** Mounts a system folder, or copies the link: /bin is a link to usr/bin on most systems. */
function showSystem(folder: string, root: string, bind: (source: string) => void): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() === true) symlinkSync(readlinkSync(folder), join(root, folder));
  else if (stat?.isDirectory() === true) bind(folder);
}

function settingsFor(network: GuardedRun['network']): readonly string[] {
  const wanted = [...SYSTEM_SETTINGS, ...(network === 'allowed' ? NETWORK_SETTINGS : [])];
  const names = wanted.flatMap(name => (name.endsWith('*') ? startingWith(name.slice(0, -1)) : [name]));
  return names.map(name => `/etc/${basename(name)}`).filter(path => existsSync(path));
}

let listed: readonly string[] | undefined;

function startingWith(start: string): readonly string[] {
  listed ??= existsSync('/etc') ? readdirSync('/etc') : [];
  return listed.filter(name => name.startsWith(start));
}
