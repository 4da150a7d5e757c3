/** What is a plan? The pipeline file with everything expanded and checked: stage instances, their params, and where each input comes from. */
import type { Brand } from '../../base/brand.js';
import type { JsonObject } from '../../base/json.js';
import type { Ports } from '../../stage/ports.js';
import type { PluginEntry } from './plugin-entry.js';
import type { SourceSpan } from './source-span.js';

/** A stage instance as users write it: "export", "quantize@backbone". */
export type StageId = Brand<string, 'StageId'>;

export interface Plan {
  /** 'pipeline' for pipeline.yaml, 'x' for pipelines/x.yaml: names the folder under artifacts/ ('' for the default) and the state. */
  readonly pipeline: string;
  /** Folder of the project: where relative sources start, and where artifacts/ and cache/ stand. */
  readonly projectFolder: string;
  /** In a topological order; ties in file order. */
  readonly stages: ReadonlyMap<StageId, PlannedStage>;
  /** Every name that addresses stages: each instance's id and each group's name. */
  readonly targets: ReadonlyMap<string, readonly StageId[]>;
  /** The pipeline's parameters as they are in effect: defaults, params files and `-p` together. */
  readonly params: JsonObject;
  /** Capacity of named pools, `cpu` included where set. */
  readonly pools: Readonly<Record<string, number>>;
}

export interface PlannedStage {
  readonly id: StageId;
  /** The name in the pipeline file; equal to the id where the stage has one instance. */
  readonly group: string;
  readonly plugin: PluginEntry;
  /** Checked, defaults filled in. */
  readonly params: JsonObject;
  readonly inputPorts: Ports;
  readonly outputPorts: Ports;
  /** What each connected input port reads. */
  readonly inputs: Readonly<Record<string, InputBinding>>;
  readonly determinism: 'exact' | 'measured';
  readonly gate: readonly Gate[];
  /** Units of each pool that a run takes; `cpu` is 1 unless set, and `memory` is in bytes. */
  readonly resources: Readonly<Record<string, number>>;
  /** Ready stages of a higher one start first. */
  readonly priority: number;
  readonly timeoutMs: number | undefined;
  /** Further tries after a failure. */
  readonly retries: number;
  /** Names of environment variables that reach the stage; their values are in the key. */
  readonly env: readonly string[];
  /** Names of further ones, whose values are in no key, log or message. */
  readonly secrets: readonly string[];
  /** In a sandbox. */
  readonly network: 'none' | 'allowed';
  readonly span: SourceSpan;
}

export type InputBinding = InputRef | { readonly kind: 'record'; readonly entries: Readonly<Record<string, InputRef>> };

export type InputRef =
  /** `path` is absolute or relative to the project folder, as written; `name` is how the pipeline file calls it ("val.images"). */
  | { readonly kind: 'source'; readonly name: string; readonly path: string; readonly span: SourceSpan }
  | { readonly kind: 'artifact'; readonly stage: StageId; readonly port: string; readonly span: SourceSpan };

/** A bound that a metric must meet: never part of a key, checked in every build. */
export interface Gate {
  /** Dotted path in the stage's metrics artifact ("delta.bbox.AP"). */
  readonly metric: string;
  readonly operator: '>=' | '<=' | '>' | '<' | '==';
  readonly bound: number;
  readonly span: SourceSpan;
}
