/** The part of a stage's result that determines the keys of the stages that read it. */
import type { ActionKey } from './action-key.js';
import type { Artifact } from './artifact.js';

export interface KnownResult {
  readonly key: ActionKey;
  /** Outputs with the signature of the published files, or '' for a predicted result. */
  readonly outputs: Readonly<Record<string, Artifact & { readonly signature: string }>>;
}
