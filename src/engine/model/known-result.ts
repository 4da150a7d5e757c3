/** What must be known of a stage's result for the key of a stage that reads it? */
import type { ActionKey } from './action-key.js';
import type { Artifact } from './artifact.js';

export interface KnownResult {
  readonly key: ActionKey;
  /** With the signature of what is published, or '' where it is only predicted. */
  readonly outputs: Readonly<Record<string, Artifact & { readonly signature: string }>>;
}
