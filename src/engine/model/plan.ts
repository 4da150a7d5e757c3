/** The plan: the expanded and checked pipeline file, with stage instances, their params, and the source of each input. */
import type { Bound } from '../../base/bound.js';
import type { Brand } from '../../base/brand.js';
import type { JsonObject } from '../../base/json.js';
import type { Ports } from '../../stage/ports.js';
import type { PluginEntry } from './plugin-entry.js';
import type { SourceSpan } from './source-span.js';

/** The id of a stage instance as users write it: "export", "quantize@backbone". */
export type StageId = Brand<string, 'StageId'>;

export interface Plan {
  /** 'pipeline' for pipeline.yaml, 'x' for pipelines/x.yaml. It names the state, and the folder under artifacts/ except for the default pipeline. */
  readonly pipeline: string;
  /** Project folder: relative sources start there, and it holds artifacts/ and cache/. */
  readonly projectFolder: string;
  /** In a topological order; ties in file order. */
  readonly stages: ReadonlyMap<StageId, PlannedStage>;
  /** Every name that selects stages: the id of each instance and the name of each group. */
  readonly targets: ReadonlyMap<string, readonly StageId[]>;
  /** The effective pipeline parameters: defaults, params files and `-p` combined. */
  readonly params: JsonObject;
  /** Capacity of named pools, including `cpu` if set. */
  readonly pools: Readonly<Record<string, number>>;
  /** Address of the remote cache that the pipeline file names. It has no effect unless the user trusts it. */
  readonly remoteCache?: string | undefined;
}

/** Where a stage runs: here, on remote workers, or there if they can run it and else here. */
export const EXECUTORS = ['local', 'auto', 'remote'] as const;

export type Executor = (typeof EXECUTORS)[number];

export interface PlannedStage {
  readonly id: StageId;
  /** The name in the pipeline file; equal to the id if the stage has one instance. */
  readonly group: string;
  readonly plugin: PluginEntry;
  /** Checked, with defaults filled in. */
  readonly params: JsonObject;
  readonly inputPorts: Ports;
  readonly outputPorts: Ports;
  /** The source of each connected input port. */
  readonly inputs: Readonly<Record<string, InputBinding>>;
  readonly determinism: 'exact' | 'measured';
  readonly gate: readonly Gate[];
  /** Units of each pool that a run takes. `cpu` is 1 unless set; `memory` is in bytes. */
  readonly resources: Readonly<Record<string, number>>;
  /** Among ready stages, those of higher priority start first. */
  readonly priority: number;
  readonly timeoutMs: number | undefined;
  /** Number of further attempts after a failure. */
  readonly retries: number;
  /** Names of environment variables that are passed to the stage. Their values are part of the key. */
  readonly env: readonly string[];
  /** Names of further variables, whose values appear in no key, log or message. */
  readonly secrets: readonly string[];
  /** Where it runs; undefined if the pipeline does not say. */
  readonly executor?: Executor | undefined;
  /** Properties that a remote worker must have, by name. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** Network access in a sandbox. */
  readonly network: 'none' | 'allowed';
  readonly span: SourceSpan;
}

export type InputBinding = InputRef | { readonly kind: 'record'; readonly entries: Readonly<Record<string, InputRef>> };

export type InputRef =
  /** `path` is absolute or relative to the project folder, as written. `name` is the name in the pipeline file ("val.images"). */
  | { readonly kind: 'source'; readonly name: string; readonly path: string; readonly span: SourceSpan }
  | { readonly kind: 'artifact'; readonly stage: StageId; readonly port: string; readonly span: SourceSpan };

/** A bound that a metric must meet. It is never part of a key and is checked in every build. */
export interface Gate extends Bound {
  /** Dotted path in the stage's metrics artifact ("delta.bbox.AP"). */
  readonly metric: string;
  readonly span: SourceSpan;
}

/** Whether the stage measures on a remote worker that it names by properties, such as a board. It never runs here. */
export function isOnBoard({ determinism, properties = {}, executor }: PlannedStage): boolean {
  return determinism === 'measured' && executor !== 'local' && Object.keys(properties).length > 0;
}
