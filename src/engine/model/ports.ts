/** What does the engine need from outside? The composition root supplies it; tests supply doubles. */
import type { BuildEvent } from './events.js';

export interface EnginePorts {
  /** The folder that holds `src/`, `stages/` and `code-digests.json` as compiled, unbundled modules: dist/ of the installation. */
  readonly installRoot: string;
  /** Where `env` names of stages, and what workers may see, are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platformClass: PlatformClassPort;
  /** 'links': published files are the store's own, read only, where the file system can. Copies where absent. */
  readonly artifacts?: 'copies' | 'links';
  /** Gets every event in order. Must not throw. */
  readonly emit: (event: BuildEvent) => void;
  /** The clock: ms since 1970. What is dated by it is told and kept, and never decides what is built. */
  readonly nowMs: () => number;
  /** Aborts the build: everything started is killed, the rest is 'cancelled'. */
  readonly signal: AbortSignal;
}

/** Which machines compute equal bytes with a model? */
export interface PlatformClassPort {
  /** Cheap, and different wherever the class may differ: CPU, OS, library. The class is cached under it. */
  readonly guard: () => string;
  /** Runs the probe models. Slow, loads ONNX Runtime. */
  readonly compute: () => Promise<string>;
}
