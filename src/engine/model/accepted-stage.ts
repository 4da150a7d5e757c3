/** The accepted result of a stage and its published files under artifacts/. */
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from './action-key.js';
import type { Artifact } from './artifact.js';

/** The last accepted result of a stage, as it was published. */
export interface AcceptedStage extends Published {
  readonly key: ActionKey;
  /** Quick key of the manifest at the time the result was accepted. */
  readonly quickKey: string;
  readonly metrics: JsonObject | undefined;
  /** Metrics of the previous result, if that was a different one. */
  readonly previousMetrics: JsonObject | undefined;
  readonly durationMs: number;
}

/** The published files of a stage under artifacts/. */
export interface Published {
  readonly outputs: Readonly<Record<string, PublishedArtifact>>;
  /** Stamp of the stage's folder. While it is unchanged, no entry was added to or removed from the folder. */
  readonly folderStamp: string;
}

export interface PublishedArtifact extends Artifact {
  /** Stamps of all published files. Equal signatures mean that the files are unchanged since publication. */
  readonly signature: string;
}
