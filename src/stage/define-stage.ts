/** What is a stage plugin? A declaration as data, and one `run` function. */
import type { JsonObject } from '../base/json.js';
import type { Context } from './context.js';
import type { Ports } from './ports.js';

/** The JSON Schema of a plugin's params: an object schema; `default`s are filled in before `run`, unknown properties are refused unless it allows them. */
export type ParamsSchema = JsonObject;

/** What `run` gets: parsed params, paths of what it reads and where it writes, and a narrow context. */
export interface StageJob<Params> {
  readonly params: Params;
  /** One path per input port; record ports give a path per entry. An optional port that is not connected is absent. */
  readonly inputs: InputPaths;
  /** One path per output port, not yet existing. Every one must exist when `run` returns: a file, or a folder for folder kinds. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly context: Context;
}

export interface InputPaths {
  readonly [port: string]: string | Readonly<Record<string, string>> | undefined;
}

export interface StagePlugin<Params = never> {
  readonly name: string;
  /** Raise it when the same inputs should give other bytes although no module changed (rare: the code digest sees code). */
  readonly version: number;
  /** One sentence for `tanren plugins` and the published schema. */
  readonly description: string;
  readonly params: ParamsSchema;
  /** Fixed, or a pure function of the parsed params, evaluated while planning. */
  readonly inputs: Ports | ((params: Params) => Ports);
  readonly outputs: Ports | ((params: Params) => Ports);
  /** 'exact': same inputs, params and code give the same bytes. 'measured': they may not; the host's identity joins the key. May depend on the params. */
  readonly determinism: 'exact' | 'measured' | ((params: Params) => 'exact' | 'measured');
  /** Whether ONNX Runtime computes bytes of the outputs: the platform class joins the key. */
  readonly runsModels: 'always' | 'never';
  /** 'worker' (where absent): runs in a process of its own. 'in-process': for built-in plugins that only start programs, and compute nothing themselves; any other gets its process all the same. */
  readonly isolation?: 'worker' | 'in-process';
  /** Programs that it starts, as names on the PATH or paths: the digest of each one's file joins the key. A pure function of the params. */
  readonly tools?: (params: Params) => readonly string[];
  /**
   * What it measures on, where that tells its identity (driver, firmware, versions) only when it is started. Equal descriptions mean one and the same thing,
   * also in other stages. Such a stage calls `context.identify` in every run: the last known identity of the description joins the key, so that a stage whose
   * device has changed is stale, and nothing is started to find out that nothing has.
   */
  readonly device?: (params: Params) => JsonObject | undefined;
  /**
   * Whether `context.build` tells it of the build it runs in. What of that is the same in every build with the same results joins the key, the rest does not:
   * so it must be 'measured'.
   */
  readonly needs?: 'build-summary';
  /** Semantic checks that JSON Schema cannot express; each message is shown at the stage's `with`. */
  readonly checkParams?: (params: Params) => readonly string[];
  /**
   * Further files and folders that belong to its code: relative to its module, or `file:` URLs. They enter the code digest, and may be loaded: what it imports
   * by a computed name, and data that it reads from beside itself.
   */
  readonly reads?: readonly string[];
  /** Does the work. Import heavy modules inside it (`await import('./run.js')`), so that planning stays light. */
  readonly run: (job: StageJob<Params>) => Promise<void>;
}

/** Declares a plugin; the identity function, for its types. The default export of a third party's plugin module, or one named as the plugin. */
export function defineStage<Params>(plugin: StagePlugin<Params>): StagePlugin<Params> {
  return plugin;
}
