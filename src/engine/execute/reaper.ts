/** Ends what a build has started when the build itself is killed: a small shell that outlives it and reads which process groups are running. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

export interface Reaper {
  /** Starts the shell, so that it is there before the first process to watch: starting it takes longer than telling it. */
  open(): void;
  /** Watches the group of a process that leads one. @returns what to call when the process has ended. */
  watch(pid: number): () => void;
  /** The shell's input, for another process that tells it of groups as `watch` does; undefined where there is no shell. It reaps when all that hold this are gone. */
  input(): Writable | undefined;
  /** Ends the shell; nothing may be running any more. */
  close(): void;
}

/** Keeps the list of running groups; when its input ends, because the build closed it or is gone, kills those that are left. */
const SCRIPT = `
running=' '
while read -r sign pid; do
  case $sign in
    +) running="$running$pid " ;;
    -) running="\${running%%" $pid "*} \${running#*" $pid "}" ;;
  esac
done
for pid in $running; do kill -9 "-$pid"; done
`;

/** On Windows, where there is no such shell, nothing is watched. */
export function createReaper(): Reaper {
  let shell: ChildProcess | undefined;
  const open = (): void => {
    if (process.platform !== 'win32') shell ??= startShell();
  };
  const tell = (line: string): void => {
    open();
    shell?.stdin?.write(line);
  };
  return {
    open,
    watch(pid) {
      if (process.platform === 'win32') return () => undefined;
      tell(`+ ${pid}\n`);
      return () => tell(`- ${pid}\n`);
    },
    input() {
      open();
      return shell?.stdin ?? undefined;
    },
    close() {
      shell?.stdin?.end();
    },
  };
}

/** In a session of its own, so that neither Ctrl-C nor the end of the terminal reaches it before it has done its work. */
function startShell(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell nothing is watched: builds that are not killed do not need it.
  shell.on('error', () => undefined);
  shell.stdin?.on('error', () => undefined);
  shell.unref();
  return shell;
}
