/** The state of a pipeline: accepted results, digests that stamps prove, known devices and the written lock file. */
import type { Digest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { RecordedStamps } from './files/recorded-stamps.js';
import type { Stamp } from './files/stamp.js';

/** A digest that is valid as long as the file has this stamp. */
export interface StampedDigest {
  readonly stamp: Stamp;
  readonly digest: Digest;
}

/** The code digest of a third-party module, valid as long as all its dependencies have these stamps. */
export interface StampedCode {
  readonly digest: Digest;
  readonly stamps: RecordedStamps;
  readonly modules: LoadableModules;
}

/** The files of a plugin's code that a worker may load. */
export interface LoadableModules {
  /** Absolute paths, with links resolved. */
  readonly paths: readonly string[];
  /** Folders of installed packages. */
  readonly packages: readonly string[];
  /** 'computed': a module may import a path that is not a literal. */
  readonly imports: 'named' | 'computed';
}

/** The identity that a device reported when it was last started. */
export interface KnownDevice {
  readonly identity: JsonObject;
  /** ISO 8601, UTC. */
  readonly seen: string;
}

export interface State {
  readonly stages: Map<string, AcceptedStage>;
  readonly files: Map<string, StampedDigest>;
  readonly code: Map<string, StampedCode>;
  /** Keyed by the digest of the device description of the plugins. */
  readonly devices: Map<Digest, KnownDevice>;
  /** Stages whose accepted artifacts a build started to replace, and was killed before it accepted the new ones. */
  readonly replacing: Set<string>;
  /** The lock file as a build wrote it; undefined if a result was accepted since. */
  lock: WrittenLock | undefined;
}

/** The stamp that a lock file had when it matched the accepted results. */
export interface WrittenLock {
  readonly stamp: Stamp;
  /** Digest of the ids of all stages that it was written for. */
  readonly stages: Digest;
}

export function emptyState(): State {
  return { stages: new Map(), files: new Map(), code: new Map(), devices: new Map(), replacing: new Set(), lock: undefined };
}
