/** What may a running stage use besides its params and artifacts? This narrow context, and nothing of the project, store or environment. */
import type { Readable, Writable } from 'node:stream';
import type { JsonObject } from '../base/json.js';
import type { BuildSummary } from './build-summary.js';

export interface Context {
  /** Aborted when the build is cancelled or the stage times out. The worker is killed soon after, so listening is optional. */
  readonly signal: AbortSignal;
  /** An empty folder of this run, removed afterwards. */
  readonly scratch: string;
  /** Writes one line to the stage's log; warnings are shown on the console too. Never part of a result. */
  log(level: 'info' | 'warning', message: string): void;
  /** Reports progress of one countable thing, such as images. */
  progress(done: number, total: number, what: string): void;
  /** A generator of uniform doubles in [0, 1), seeded by the action key and `label`: the same on every run of the same action. */
  random(label: string): () => number;
  /** Keeps a part of the work: see `definePart`. */
  memo<Input extends JsonObject>(part: Part<Input>, request: PartRequest<Input>): Promise<PartResult>;
  /** The stages before this one, and how they ended: only for a plugin that declares `needs: 'build-summary'`. */
  readonly build: BuildSummary | undefined;
  /** The values of the environment variables that the stage declares, where they are set. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Runs an external program, without a shell, in `cwd`; killed with the stage. Its environment is fixed (PATH, HOME, a UTF-8 locale, UTC, TMPDIR in scratch),
   * plus the stage's `env`, plus `options.env`.
   * @throws StageError `tool-missing` where there is no such program.
   */
  spawn(command: readonly string[], options: SpawnOptions): Promise<SpawnResult>;
  /** As `spawn`, for a program that is talked to while it runs: its standard error goes to the log, its standard input and output to the caller. */
  start(command: readonly string[], options: SpawnOptions): RunningProgram;
  /**
   * Says what the thing is that this run measures on, for a plugin that declares a `device`: at every start of it, before any result. The engine records it,
   * puts it into the action's key, and shows it with its date. Two different identities in one run fail the stage.
   */
  identify(identity: JsonObject): void;
}

/** A started program with its pipes. It is killed with the stage. */
export interface RunningProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended. @throws StageError `tool-missing` where it could not be started. */
  readonly ended: Promise<SpawnResult>;
  /** Asks it to end, and kills it with all it started a moment later. Does nothing where it has ended. */
  stop(): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  /** Further variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Gets each chunk of output as it comes, of a started program of its standard error alone; it is written to the stage's log too. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface SpawnResult {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/**
 * A part of a stage's work that is worth keeping on its own: a module of its own, JSON and blobs in, blobs out.
 * Its key is the digest of part name and version, the code it reaches by import, the manifest, the blobs' digests, and the platform class where it runs models.
 */
export interface Part<Input extends JsonObject> {
  readonly name: string;
  readonly version: number;
  /** `import.meta.url` of the module that defines it: the root of its code digest. */
  readonly module: string;
  readonly runsModels: 'always' | 'never';
  /** Reads `blobs` (paths), writes every file it returns by name into `folder`. May keep open sessions in module state between calls; must not depend on them. */
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
  /** Everything that can change the result besides code and blobs. */
  readonly manifest: Input;
  /** Files by role. Their digests enter the key, their paths do not. */
  readonly blobs: Readonly<Record<string, string>>;
  /** Paths by role that do not enter the key: everything of them that can change the result must be in the manifest (a digest of what is read, say). */
  readonly unkeyed?: Readonly<Record<string, string>>;
}

export interface PartResult {
  /** Paths of the files that the part wrote, by name; read only, valid while the stage runs. */
  readonly files: Readonly<Record<string, string>>;
  readonly from: 'kept' | 'computed';
}

/** Declares a part; the identity function, for its types. */
export function definePart<Input extends JsonObject>(part: Part<Input>): Part<Input> {
  return part;
}
