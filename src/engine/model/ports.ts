/** The services that the engine needs from outside. The composition root supplies them; tests supply doubles. */
import type { ChildProcess } from 'node:child_process';
import type { BuildEvent } from './events.js';

export interface EnginePorts {
  /** The folder that holds `src/`, `stages/` and `code-digests.json` as compiled, unbundled modules: dist/ of the installation. */
  readonly installRoot: string;
  /** Source of the `env` variables of stages and of the environment of workers. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platformClass: PlatformClassPort;
  /** The files that a remote worker needs to run actions. Without it, no action leaves this machine. */
  readonly runtime?: RuntimePort;
  /** 'links': published files are links to the store's own files, read-only, where the file system supports it. Copies if absent. */
  readonly artifacts?: 'copies' | 'links';
  /** Processes that were started ahead; without it, each worker is started when its stage runs. */
  readonly standby?: StandbyPort;
  /** Receives every event in order. Must not throw. */
  readonly emit: (event: BuildEvent) => void;
  /** The clock, in ms since 1970. Its dates are shown and stored, and never decide what is built. */
  readonly nowMs: () => number;
  /** Aborts the build: all started processes are killed, and the remaining stages are 'cancelled'. */
  readonly signal: AbortSignal;
}

/** The platform class: machines of one class compute equal bytes with a model. */
export interface PlatformClassPort {
  /** Cheap; differs wherever the class may differ: CPU, OS, library. The class is cached under it. */
  readonly guard: () => string;
  /** Runs the probe models. Slow, because it loads ONNX Runtime. */
  readonly compute: () => Promise<string>;
}

/** Fresh processes that become workers. */
export interface StandbyPort {
  /** Makes one of them the process of a worker, as if it had been started so. @returns undefined if none is ready. */
  begin(order: StandbyOrder): ChildProcess | undefined;
}

export interface StandbyOrder {
  /** Absolute path of the main module of a worker, one CommonJS file. */
  readonly main: string;
  /** The run folder. */
  readonly folder: string;
  /** The working folder. */
  readonly scratch: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * What a runtime is for: the worker with this main module, plugins that are modules of a project, plugins that only start programs, or all of these.
 * Servers may lay out a copy for every action, so an action names only the files that it needs.
 */
export type RuntimeUse =
  | { readonly kind: 'worker'; readonly main: string }
  | { readonly kind: 'modules' }
  | { readonly kind: 'programs' }
  | { readonly kind: 'whole' };

export type RuntimePort = (use: RuntimeUse) => Promise<readonly RuntimeFile[]>;

export interface RuntimeFile {
  /** In the runtime, with slashes. */
  readonly path: string;
  /** Absolute path here. */
  readonly from: string;
  readonly executable: boolean;
}
