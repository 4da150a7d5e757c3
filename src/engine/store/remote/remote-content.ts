/** Content that is on a server and not in the local store. */
import type { Digest } from '../../../base/digest.js';

export interface RemoteContent {
  /** Sizes of files in bytes. */
  readonly blobs: ReadonlyMap<Digest, number>;
  /** Tree documents, which are made here. */
  readonly documents: ReadonlyMap<Digest, string>;
}

export const NO_REMOTE_CONTENT: RemoteContent = { blobs: new Map(), documents: new Map() };
