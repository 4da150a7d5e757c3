/** The context of a running stage: all that it may use besides params and artifacts. It gives no access to the project, the store or the environment. */
import type { Readable, Writable } from 'node:stream';
import type { JsonObject } from '../base/json.js';
import type { BuildSummary } from './build-summary.js';

export interface Context {
  /** Aborted when the build is cancelled or the stage times out. The worker is killed soon after, so listening is optional. */
  readonly signal: AbortSignal;
  /** An empty folder of this run, removed afterwards. */
  readonly scratch: string;
  /** Writes one line to the stage's log; warnings are also shown on the terminal. Never part of a result. */
  log(level: 'info' | 'warning', message: string): void;
  /** Reports progress of a countable unit, such as images. */
  progress(done: number, total: number, what: string): void;
  /** A generator of uniform doubles in [0, 1), seeded by the action key and `label`, so that every run of the same action gets the same numbers. */
  random(label: string): () => number;
  /** Runs or reuses a part of the work: see `definePart`. */
  memo<Input extends JsonObject>(part: Part<Input>, request: PartRequest<Input>): Promise<PartResult>;
  /**
   * How many parts are worth asking for at once: more than one if remote workers, or free slots of this machine, may compute them. The results are the
   * same, so a plugin with many parts calls `memo` for so many before it waits for the first. A process computes one part at a time.
   */
  readonly partsAtOnce: number;
  /** The stages before this one and their outcomes. Only for a plugin that declares `needs: 'build-summary'`. */
  readonly build: BuildSummary | undefined;
  /** Values of the declared environment variables that are set. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Runs an external program, without a shell, in `cwd`; killed with the stage. Its environment is fixed (PATH, HOME, a UTF-8 locale, UTC, TMPDIR in scratch),
   * plus the stage's `env`, plus `options.env`.
   * @throws StageError `tool-missing` if the program does not exist.
   */
  spawn(command: readonly string[], options: SpawnOptions): Promise<SpawnResult>;
  /** Like `spawn`, for an interactive program: standard error goes to the log, standard input and output to the caller. */
  start(command: readonly string[], options: SpawnOptions): RunningProgram;
  /**
   * States the identity of the device that this run measures on, for a plugin that declares a `device`: at every start of the device, before any result.
   * The engine records it, adds it to the action's key, and shows it with its date. Two different identities in one run fail the stage.
   */
  identify(identity: JsonObject): void;
}

/** A started program with its pipes. It is killed with the stage. */
export interface RunningProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How the program ended. @throws StageError `tool-missing` if it could not be started. */
  readonly ended: Promise<SpawnResult>;
  /** Asks the program to exit, and kills it with its child processes after a grace period. Does nothing if it has ended. */
  stop(): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  /** Additional variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives each chunk of output; for `start`, of standard error only. The output is also written to the stage's log. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Of `spawn`: ends the program and its process group as the end of the stage does. The run then resolves as usual. */
  readonly signal?: AbortSignal;
}

export interface SpawnResult {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/**
 * A cached part of a stage's work: a separate module with JSON and blobs as input and files as output.
 * Its key is the digest of the part's name and version, the code that it imports, the manifest, the blobs' digests, and the platform class if it runs models.
 */
export interface Part<Input extends JsonObject> {
  readonly name: string;
  readonly version: number;
  /** `import.meta.url` of the defining module: the root of its code digest. */
  readonly module: string;
  readonly runsModels: 'always' | 'never';
  /** Reads `blobs` (paths) and writes every file that it returns by name into `folder`. May keep open sessions in module state between calls, but must not depend on them. */
  readonly run: (job: PartJob<Input>) => Promise<readonly string[]>;
}

export interface PartJob<Input extends JsonObject> {
  readonly manifest: Input;
  readonly blobs: Readonly<Record<string, string>>;
  readonly unkeyed: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly context: Pick<Context, 'signal' | 'log'>;
}

export interface PartRequest<Input extends JsonObject> {
  /** Everything except code and blobs that can change the result. */
  readonly manifest: Input;
  /** Files by role. Their digests are part of the key, their paths are not. */
  readonly blobs: Readonly<Record<string, string>>;
  /** Paths by role that are not part of the key. Whatever in them can change the result must be in the manifest, for example as a digest. */
  readonly unkeyed?: Readonly<Record<string, string>>;
}

export interface PartResult {
  /** Paths of the files that the part wrote, by name. Read-only, valid while the stage runs. */
  readonly files: Readonly<Record<string, string>>;
  readonly from: 'kept' | 'computed';
}

/** Declares a part; the identity function, for its types. */
export function definePart<Input extends JsonObject>(part: Part<Input>): Part<Input> {
  return part;
}
