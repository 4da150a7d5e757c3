/** The worker and part processes of a project, found in /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly kind: 'worker' | 'part process' | 'program';
}

/** Those that have a folder of the project's cache among their arguments, and programs that run in one. A process that has ended is none. */
export function findProcesses(folder: string): readonly RunningProcess[] {
  return readdirSync('/proc').flatMap((name): readonly RunningProcess[] => {
    if (!/^\d+$/.test(name)) return [];
    const words = read(`/proc/${name}/cmdline`).split('\0');
    const isWorker = words.some(word => word.startsWith(`${folder}/cache/tmp/`));
    if (!isWorker && !workingFolder(name).startsWith(`${folder}/cache/tmp/`)) return [];
    if (/^State:\s+Z/m.test(read(`/proc/${name}/status`))) return [];
    return [{ pid: Number(name), kind: !isWorker ? 'program' : words.includes('parts') ? 'part process' : 'worker' }];
  });
}

/** Of a process that ends meanwhile: nothing. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
