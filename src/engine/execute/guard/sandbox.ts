/** The sandbox: programs run in Linux namespaces, set up with util-linux, where only the declared files of the stage are visible of the user's files. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDefined } from '../../../base/invariant.js';
import { BOX_LAYOUT, makeBox } from './box.js';
import type { Guard, GuardedRun, RunGuard } from './guard.js';
import { type MountTable, readMountTable } from './mount-table.js';

export type SandboxSearch = { readonly kind: 'found'; readonly guard: Guard } | { readonly kind: 'impossible'; readonly why: string };

/** The programs that set up a sandbox. */
const PROGRAMS = ['unshare', 'mount', 'umount', 'pivot_root'] as const;
type Programs = Readonly<Record<(typeof PROGRAMS)[number], string>>;

/**
 * Runs as process 1 of its namespaces. It mounts the box's table and makes the box's root the only root.
 * Then it starts the program in a separate user namespace, where the program has the user's id and no rights over the mounts.
 */
const SCRIPT = `
box=$1 mount=$2 umount=$3 pivot=$4 unshare=$5 uid=$6 gid=$7 cwd=$8
shift 8
refuse() { echo "sandbox: $1" >&2; exit 125; }
"$mount" -a -T "$box/${BOX_LAYOUT.table}" || refuse 'not everything can be mounted'
while read -r options path; do "$mount" -o "$options" "$path" || refuse "$path cannot be made read-only"; done < "$box/${BOX_LAYOUT.readOnly}"
cd "$box/${BOX_LAYOUT.root}" && "$pivot" . . && "$umount" -l . || refuse 'the root cannot be changed'
cd "$cwd" || refuse "the working directory $cwd does not exist in the sandbox"
unset PWD OLDPWD
"$unshare" --user --map-user="$uid" --map-group="$gid" -- "$@"
`;

/** Tests a sandbox on this machine. Whether it works depends on the kernel, system settings, and an enclosing container. */
export async function findSandbox(): Promise<SandboxSearch> {
  if (process.platform !== 'linux') return { kind: 'impossible', why: `it needs Linux namespaces, and this is ${process.platform}` };
  const programs: Record<keyof Programs, string> = { unshare: '', mount: '', umount: '', pivot_root: '' };
  for (const name of PROGRAMS) {
    const path = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map(folder => join(folder, name)).find(candidate => existsSync(candidate));
    if (path === undefined) return { kind: 'impossible', why: `the program "${name}" of the package util-linux is not installed` };
    programs[name] = path;
  }
  const guard = makeSandbox(programs, readMountTable());
  const why = await tryOut(guard);
  return why === undefined ? { kind: 'found', guard } : { kind: 'impossible', why };
}

function makeSandbox(programs: Programs, mounts: MountTable): Guard {
  const uid = String(getDefined(process.getuid, 'getuid')());
  const gid = String(getDefined(process.getgid, 'getgid')());
  return {
    open(run): RunGuard {
      const box = `${run.pathPrefix}-box`;
      makeBox(box, run, mounts);
      const network = run.network === 'none' ? ['--net'] : [];
      const namespaces = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child', '--ipc', ...network];
      const { unshare, mount, umount, pivot_root: pivot } = programs;
      return {
        wrap: (command, cwd) => [
          ...[unshare, ...namespaces, '--', '/bin/sh', '-c', SCRIPT, 'sandbox', box, mount, umount, pivot, unshare, uid, gid, cwd],
          ...command,
        ],
        findViolation: () => undefined,
        close: () => rm(box, { recursive: true, force: true }),
      };
    },
  };
}

/** @returns the reason why the sandbox does not work; undefined if it works. */
async function tryOut(guard: Guard): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-sandbox-'));
  const trial: GuardedRun = {
    projectFolder: folder,
    writable: [folder],
    readable: [],
    ownCopies: [],
    network: 'none',
    pathPrefix: join(folder, 'trial'),
  };
  const run = guard.open(trial);
  try {
    const errorText = await findError(run.wrap(['/bin/sh', '-c', 'echo > written'], folder));
    return errorText === undefined ? undefined : [errorText, ...findCauses()].join('; ');
  } finally {
    await run.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the error output of a command that failed; undefined if it succeeded. */
function findError([program = '', ...args]: readonly string[]): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn(program, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000 });
    let errorText = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorText += text;
    });
    child.on('error', error => resolve(error.message));
    child.on('close', code => resolve(code === 0 ? undefined : errorText.trim().replaceAll('\n', ', ') || `it ended with ${code}`));
  });
}

/** Returns settings that are known to forbid user namespaces. */
function findCauses(): readonly string[] {
  const causes: string[] = [];
  if (readSetting('/proc/sys/kernel/unprivileged_userns_clone') === '0') causes.push('kernel.unprivileged_userns_clone is 0');
  if (readSetting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1')
    causes.push('kernel.apparmor_restrict_unprivileged_userns is 1');
  if (readSetting('/proc/sys/user/max_user_namespaces') === '0') causes.push('user.max_user_namespaces is 0');
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) causes.push('this is a container, whose runtime may forbid it');
  return causes;
}

function readSetting(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}
