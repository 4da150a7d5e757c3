/** Who watches a stage's processes, and keeps them from what the stage has not declared? One interface for the sandbox, the trace of system calls, and both. */
import type { Failure } from '../../model/failure.js';

/** Ready for a build: it has been tried out on this machine. */
export interface Guard {
  open(run: GuardedRun): RunGuard;
}

/** What a run has declared. All paths are absolute. */
export interface GuardedRun {
  readonly projectFolder: string;
  /** The folders that it may write to, and read what it has written there. */
  readonly writable: readonly string[];
  /** Files and folders that it may read: its programs, and, of a worker, its inputs and its code. */
  readonly readable: readonly string[];
  /** Folders that stand in the sandbox under names of the system's, such as /tmp, and that are the run's own: what it really finds there it may read and write. */
  readonly ownCopies: readonly string[];
  readonly network: 'none' | 'allowed';
  /** Where the guard may make folders of its own; they are removed by `close`. */
  readonly besides: string;
}

export interface RunGuard {
  /** The command line that starts `command` in `cwd` under guard. */
  wrap(command: readonly string[], cwd: string): readonly string[];
  /** What the run did against its declaration. To be asked when everything it started has ended. */
  judge(): Failure | undefined;
  close(): Promise<void>;
}
