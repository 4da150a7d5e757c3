/** Parser of strace output: the paths that traced processes read and wrote. */
import { posix } from 'node:path';

export interface Access {
  readonly kind: 'read' | 'write';
  /** Absolute, as the process saw it. */
  readonly path: string;
  /** 'refused': the file does not exist, is read-only, or is not accessible. */
  readonly end: 'done' | 'refused';
}

/** System calls that read or change the file at a path. `straceArguments` prefixes them with "?", because not every architecture has every call. */
const OPENING = ['open', 'openat', 'openat2', 'creat'];
const EXECUTING = ['execve', 'execveat'];
/** Which of the call's paths it changes. */
const CHANGING: Readonly<Record<string, 'first' | 'last' | 'all'>> = {
  unlink: 'first',
  unlinkat: 'first',
  rmdir: 'first',
  mkdir: 'first',
  mkdirat: 'first',
  mknod: 'first',
  mknodat: 'first',
  symlink: 'last',
  symlinkat: 'last',
  link: 'last',
  linkat: 'last',
  rename: 'all',
  renameat: 'all',
  renameat2: 'all',
  chmod: 'first',
  fchmod: 'first',
  fchmodat: 'first',
  fchmodat2: 'first',
  chown: 'first',
  lchown: 'first',
  fchown: 'first',
  fchownat: 'first',
  truncate: 'first',
  utime: 'first',
  utimes: 'first',
  futimesat: 'first',
  utimensat: 'first',
  setxattr: 'first',
  lsetxattr: 'first',
  fsetxattr: 'first',
};
const MOVING = ['chdir', 'fchdir'];
const FORKING = ['clone', 'clone3', 'fork', 'vfork'];

/** Returns the arguments of strace: the traced calls, the output format, and the suppression of other messages. */
export function straceArguments(output: string): readonly string[] {
  const calls = [...OPENING, ...EXECUTING, ...Object.keys(CHANGING), ...MOVING, ...FORKING].map(name => `?${name}`).join(',');
  return ['-f', '-qq', '--seccomp-bpf', '-y', '-xx', '-e', 'signal=none', '-e', `trace=${calls}`, '-o', output];
}

interface Call {
  readonly pid: string;
  readonly name: string;
  readonly args: string;
  /** The text after the last "=". */
  readonly result: string;
}

/** @param cwd working directory of the first process. */
export function readTrace(text: string, cwd: string): readonly Access[] {
  const calls = readCalls(text);
  const parents = new Map(
    calls.flatMap(({ pid, name, result }) => (FORKING.includes(name) ? [[result.split(' ')[0] ?? '', pid] as const] : [])),
  );
  const folders = new Map<string, string>();
  const folderOf = (pid: string): string => {
    const known = folders.get(pid);
    if (known !== undefined) return known;
    const parent = parents.get(pid);
    parents.delete(pid);
    const folder = parent === undefined ? cwd : folderOf(parent);
    folders.set(pid, folder);
    return folder;
  };
  const found: Access[] = [];
  for (const call of calls) {
    const paths = pathsOf(call, folderOf(call.pid));
    if (paths.folder !== undefined) folders.set(call.pid, paths.folder);
    const end = endOf(call.result);
    if (end === 'done' && MOVING.includes(call.name)) folders.set(call.pid, paths.named[0] ?? folderOf(call.pid));
    if (end !== undefined) found.push(...accessesOf(call, paths.named, end));
  }
  return found.filter(({ path }) => path.startsWith('/') && !path.startsWith('/memfd:'));
}

/** Returns complete calls in the order in which they ended. Calls that were interrupted by lines of other processes are joined. */
function readCalls(text: string): readonly Call[] {
  const open = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of text.split('\n')) {
    const [, pid, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (pid === undefined || rest === undefined) continue;
    const begun = /^(.*?) *<unfinished \.\.\.>$/.exec(rest)?.[1];
    if (begun !== undefined) {
      open.set(pid, begun);
      continue;
    }
    const ended = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const whole = ended === undefined ? rest : (open.get(pid) ?? '') + ended;
    if (ended !== undefined) open.delete(pid);
    const [, name, args, result] = /^(\w+)\((.*)\) += (.*)$/.exec(whole) ?? [];
    if (name !== undefined && args !== undefined && result !== undefined) calls.push({ pid, name, args, result });
  }
  return calls;
}

const TOKEN = /(?:AT_FDCWD|\b\d+)<((?:\\x[0-9a-f]{2})+)>|(AT_FDCWD)|"((?:\\x[0-9a-f]{2})*)"/g;

/** Returns the paths that a call names, as absolute paths. `folder` is the process's working directory, if the call reveals it. */
function pathsOf({ name, args }: Call, cwd: string): { readonly named: readonly string[]; readonly folder: string | undefined } {
  const named: string[] = [];
  const handles: string[] = [];
  let base = cwd;
  let folder: string | undefined;
  for (const [whole, handle, , text] of args.matchAll(TOKEN)) {
    if (text !== undefined) {
      // The further strings of execve are its arguments, not paths.
      if (EXECUTING.includes(name) && named.length > 0) break;
      const path = decode(text);
      named.push(path === '' ? base : posix.resolve(base, path));
      base = cwd;
      continue;
    }
    base = handle === undefined ? cwd : decode(handle);
    if (whole.startsWith('AT_FDCWD') && handle !== undefined) folder = base;
    else handles.push(base);
  }
  return { named: named.length > 0 ? named : handles, folder };
}

function accessesOf({ name, args, result }: Call, named: readonly string[], end: Access['end']): readonly Access[] {
  if (OPENING.includes(name)) {
    if (/\bO_PATH\b/.test(args)) return [];
    const kind = name === 'creat' || /\bO_(?:WRONLY|RDWR|CREAT|TRUNC)\b/.test(args) ? 'write' : 'read';
    // The descriptor of the result shows where links led.
    const opened = /^\d+<((?:\\x[0-9a-f]{2})+)>/.exec(result)?.[1];
    const path = opened === undefined ? named[0] : decode(opened);
    return path === undefined ? [] : [{ kind, path, end }];
  }
  if (EXECUTING.includes(name)) return named.slice(0, 1).map(path => ({ kind: 'read', path, end }));
  const which = CHANGING[name];
  if (which === undefined) return [];
  const changed = which === 'all' ? named : which === 'first' ? named.slice(0, 1) : named.slice(-1);
  return changed.map(path => ({ kind: 'write', path, end }));
}

function endOf(result: string): Access['end'] | undefined {
  if (/^\d/.test(result)) return 'done';
  return /^-1 (?:ENOENT|EROFS|EACCES|EPERM|ENOTDIR|EXDEV)\b/.test(result) ? 'refused' : undefined;
}

function decode(hex: string): string {
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString();
}
