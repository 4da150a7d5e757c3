/** The declaration of a stage plugin: data, and one `run` function. */
import type { JsonObject } from '../base/json.js';
import type { FromSchema } from '../base/schema/from-schema.js';
import type { Context } from './context.js';
import type { Headline } from './headline.js';
import type { Ports } from './ports.js';

/** The JSON Schema of a plugin's params: an object schema. `default`s are filled in before `run`; unknown properties are refused unless it allows them. */
export type ParamsSchema = JsonObject;

/** The argument of `run`: parsed params, input and output paths, and the context. */
export interface StageJob<Params> {
  readonly params: Params;
  /** One path per input port, or one per entry of a record port. An optional port that is not connected is absent. */
  readonly inputs: InputPaths;
  /** One path per output port; nothing exists there yet. Each must exist when `run` returns: a file, or a folder for folder kinds. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly context: Context;
}

export interface InputPaths {
  readonly [port: string]: string | Readonly<Record<string, string>> | undefined;
}

export interface StagePlugin<Params = never> {
  readonly name: string;
  /** Increase it if equal inputs should give other bytes although no module changed. Rarely needed, because the code digest covers modules. */
  readonly version: number;
  /** One sentence for `tanren plugins` and the published schema. */
  readonly description: string;
  readonly params: ParamsSchema;
  /** Fixed, or a pure function of the parsed params, evaluated while planning. */
  readonly inputs: Ports | ((params: Params) => Ports);
  readonly outputs: Ports | ((params: Params) => Ports);
  /** 'exact': equal inputs, params and code give equal bytes. 'measured': they may differ, and the host's identity joins the key. May depend on the params. */
  readonly determinism: 'exact' | 'measured' | ((params: Params) => 'exact' | 'measured');
  /** Whether ONNX Runtime computes bytes of the outputs; if so, the platform class joins the key. */
  readonly runsModels: 'always' | 'never';
  /** 'worker' (default): runs in its own process. 'in-process': for built-in plugins that only start programs and compute nothing; other plugins still get a process. */
  readonly isolation?: 'worker' | 'in-process';
  /** 'parts': most of its work is parts that it asks for at once. Free slots compute some of them; where stages run remotely, the workers compute all. */
  readonly spreads?: 'parts';
  /** Programs that it starts, as names on the PATH or paths. The digest of each program file joins the key. A pure function of the params. */
  readonly tools?: (params: Params) => readonly string[];
  /**
   * The device that it measures on, if the device reports its identity (driver, firmware, versions) only after it is started. Equal descriptions mean the same
   * device, also in other stages. Such a stage calls `context.identify` in every run. The last known identity of the description joins the key, so a stage with
   * a changed device is stale, and no device is started to detect that nothing changed.
   */
  readonly device?: (params: Params) => JsonObject | undefined;
  /**
   * Makes `context.build` available. The members that are equal in every build with equal results join the key, the others do not:
   * so the plugin must be 'measured'.
   */
  readonly needs?: 'build-summary';
  /**
   * The figures of its metrics that the end of a build shows; the others are shown with `--metrics full`. An empty list: none, unless no stage of the build
   * has a headline. Without it, the first figures are shown. Nothing else depends on it.
   */
  readonly headlines?: readonly Headline[] | ((params: Params) => readonly Headline[]);
  /** Checks that JSON Schema cannot express. Messages are shown at the stage's `with`. */
  readonly checkParams?: (params: Params) => readonly string[];
  /**
   * The files of a folder that another input names. If sources are connected to both ports, only these files of the folder are inputs, as a record
   * by their paths in the folder; so the folder may be the project's own. `list` gives those paths, with forward slashes, of the file at `path`, which may be
   * missing or unreadable. It is called while planning, so it is fast and does not throw.
   */
  readonly namedFiles?: { readonly port: string; readonly input: string; readonly list: (path: string) => readonly string[] };
  /**
   * Further files and folders of its code, relative to its module or as `file:` URLs. They are part of the code digest and may be loaded:
   * modules imported by a computed name, and data files beside the module.
   */
  readonly reads?: readonly string[];
  /** Does the work. Import heavy modules inside it (`await import('./run.js')`), so that planning stays light. */
  readonly run: (job: StageJob<Params>) => Promise<void>;
}

/** A plugin as its module declares it: the schema of the params gives the type of the params. */
export interface StageDeclaration<Schema extends ParamsSchema> extends StagePlugin<FromSchema<Schema>> {
  readonly params: Schema;
}

/** Declares a plugin; the identity function, for its types. A third-party plugin module exports it as default or under the plugin's name. */
export function defineStage<const Schema extends ParamsSchema>(plugin: StageDeclaration<Schema>): StagePlugin<FromSchema<Schema>> {
  return plugin;
}

/** The plugin for callers that have params of unknown type: only params that were checked against its schema may be passed to its functions. */
export function withCheckedParams(plugin: StagePlugin): StagePlugin<JsonObject> {
  // A list of plugins hides the type of their params, and checked params have that type.
  return plugin as unknown as StagePlugin<JsonObject>;
}
