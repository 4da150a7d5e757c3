/** What the page needs from the command that opens it. The command joins engine, plugins and process; tests give doubles. */
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import type { Plan } from '../../engine/model/plan.js';
import type { PluginEntry } from '../../engine/model/plugin-entry.js';
import type { EnginePorts } from '../../engine/model/ports.js';
import type { FileWatcher, WatchListener } from '../../engine/watch/watcher.js';
import type { Access } from '../../report/views/pipeline-data.js';
import type { BuildProcess } from './build-process.js';
import type { SweepOrder } from './sweeps.js';

export interface LoadedProject {
  /** undefined if the pipeline file has errors. */
  readonly plan: Plan | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of everything that planning read. */
  readonly reads: readonly string[];
}

export interface ProjectPorts {
  /** The project folder, absolute and without links. */
  readonly projectFolder: string;
  /** 'pipeline' for pipeline.yaml. */
  readonly pipeline: string;
  /** The pipeline file: absolute, and as the user wrote it. */
  readonly file: { readonly path: string; readonly name: string };
  readonly sharedCache: string | undefined;
  /** `-p` arguments and params files of the command, which every build of the page uses too. */
  readonly asked: { readonly params: readonly string[]; readonly paramsFiles: readonly string[] };
  readonly version: string;
  readonly access: Exclude<Access, 'saved'>;
  load(): Promise<LoadedProject>;
  /** Plans with another text of the pipeline file. */
  check(text: string): Promise<readonly Diagnostic[]>;
  /** Ports for reading: they never start anything. */
  readonly engine: EnginePorts;
  watch(listener: WatchListener): FileWatcher;
  /** Starts `tanren build` in a process of its own. */
  startBuild(targets: readonly string[], options: { readonly force: boolean }): BuildProcess;
  /** Starts `tanren sweep` in a process of its own. It writes its rows to `output`; `onLine` gets each line that it prints. */
  startSweep(order: SweepOrder, output: string, onLine: (line: string) => void): BuildProcess;
  /** With 'next', a process is kept ready for the build after the one that has ended; with 'none', it is ended. */
  keepReady(what: 'next' | 'none'): void;
  /** Starts that process now, where no build runs and none is ready. @param plugins of stages that it will run, if no build has shown which. */
  prepareBuild(plugins: readonly PluginEntry[]): void;
}
