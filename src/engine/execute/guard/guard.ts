/** The interface of guards, which restrict or observe a stage's processes. Implemented by the sandbox, the system call trace, and both combined. */
import type { Failure } from '../../model/failure.js';

/** A guard that was tested on this machine and is ready for a build. */
export interface Guard {
  open(run: GuardedRun): RunGuard;
}

/** The declaration of a run. All paths are absolute. */
export interface GuardedRun {
  readonly projectFolder: string;
  /** Folders that it may write to, and in which it may read what it has written. */
  readonly writable: readonly string[];
  /** Files and folders that it may read: its programs, and for a worker also its inputs and its code. */
  readonly readable: readonly string[];
  /** Folders of the run that appear in the sandbox under system paths, such as /tmp. The run may read and write whatever exists there. */
  readonly ownCopies: readonly string[];
  readonly network: 'none' | 'allowed';
  /** Path prefix under which the guard may create its own folders. `close` removes them. */
  readonly pathPrefix: string;
}

export interface RunGuard {
  /** Returns the command line that starts `command` in `cwd` under guard. */
  wrap(command: readonly string[], cwd: string): readonly string[];
  /** Returns a failure if the run violated its declaration. Must be called after all its processes have ended. */
  findViolation(): Failure | undefined;
  close(): Promise<void>;
}
