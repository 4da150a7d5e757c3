/** The accepted result of a stage, and what of it stands under artifacts/. */
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from './action-key.js';
import type { Artifact } from './artifact.js';

/** The last accepted result of a stage, as it was published. */
export interface AcceptedStage extends Published {
  readonly key: ActionKey;
  /** Of the manifest, as it was written when the result was accepted. */
  readonly quickKey: string;
  readonly metrics: JsonObject | undefined;
  /** Of the result before, where it was another. */
  readonly previousMetrics: JsonObject | undefined;
  readonly durationMs: number;
}

/** What stands under artifacts/ for a stage. */
export interface Published {
  readonly outputs: Readonly<Record<string, PublishedArtifact>>;
  /** Stamp of the stage's folder: while it is this, no name in it has come or gone. */
  readonly folderStamp: string;
}

export interface PublishedArtifact extends Artifact {
  /** Stamps of all that was published: equal ones mean that nobody has touched it. */
  readonly signature: string;
}
