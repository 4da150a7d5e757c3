/** Ends a child process together with its process group. */
import type { ChildProcess } from 'node:child_process';

const TOOL_GRACE_MS = 1_000;

/** Ends a child, with its group if it leads one: SIGTERM first, SIGKILL after `graceMs`. */
export function killGroup(child: ChildProcess, reach: 'group' | 'process', graceMs = TOOL_GRACE_MS): void {
  if (child.pid === undefined) return;
  if (hasExited(child)) {
    leaveOutput(child);
    return;
  }
  signalTo(child.pid, reach, 'SIGTERM');
  const timer = setTimeout(() => child.pid !== undefined && signalTo(child.pid, reach, 'SIGKILL'), graceMs);
  child.once('exit', () => {
    clearTimeout(timer);
    leaveOutput(child);
  });
}

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Stops reading the output of an ended child: a process that has left the group may keep it open forever. */
function leaveOutput(child: ChildProcess): void {
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, TOOL_GRACE_MS);
  child.once('close', () => clearTimeout(timer));
}

/** Kills the remaining processes of the group of a child that has exited. */
export function sweepGroup(child: ChildProcess): void {
  if (child.pid !== undefined) signalTo(child.pid, 'group', 'SIGKILL');
}

/** Sends a signal to a process, or to the group that it leads. */
export function signalTo(pid: number, reach: 'group' | 'process', signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(reach === 'group' && process.platform !== 'win32' ? -pid : pid, signal);
  } catch {
    // The process has already exited.
  }
}
