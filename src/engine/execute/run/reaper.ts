/** The reaper: a small shell process that outlives a killed build and then kills the process groups that the build started. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

export interface Reaper {
  /** Starts the shell before the first process to watch, because starting it takes longer than sending it a message. */
  open(): void;
  /** Watches the process group that the process leads. @returns a function to call when the process has ended. */
  watch(pid: number): () => void;
  /**
   * Returns the shell's input for another process that reports groups as `watch` does; undefined if there is no shell.
   * The shell kills the groups once every process that holds this input is gone.
   */
  input(): Writable | undefined;
  /** Ends the shell. No watched process may be running any more. */
  close(): void;
}

/** Tracks the running groups. When its input ends, because the build closed it or is gone, it kills the groups that remain. */
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

/** On Windows there is no such shell, and nothing is watched. */
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

/** The shell has its own session, so that neither Ctrl-C nor the end of the terminal stops it before its work is done. */
function startShell(): ChildProcess {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without a shell nothing is watched. Only a build that is killed needs it.
  shell.on('error', () => undefined);
  shell.stdin?.on('error', () => undefined);
  shell.unref();
  return shell;
}
