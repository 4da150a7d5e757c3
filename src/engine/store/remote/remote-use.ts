/** How a build uses a remote cache, and the local cache beside it. */
import type { RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { Executor } from '../../model/plan.js';
import type { ActionRecords } from '../action-records.js';
import type { BlobStore } from '../blob-store.js';
import type { CacheFolder } from '../cache-folder.js';
import type { Signatures } from './signatures.js';

/** How a build uses a remote cache. */
export interface RemoteUse {
  readonly cache: RemoteCache;
  /** Without credentials. */
  readonly address: string;
  readonly read: boolean;
  readonly write: boolean;
  /** 'ignored': only results of the remote cache count. */
  readonly local: 'used' | 'ignored';
  /** Which outputs come here although no stage reads them: those of all stages, those of the targets, or none. Default: all. */
  readonly download?: 'all' | 'targets' | 'none';
  /** Where stages run whose `executor` is not `local`; undefined: as each stage says. */
  readonly executor?: Executor | undefined;
  /** Actions that workers run at once; undefined: as many as the pool `remote` says. */
  readonly remoteJobs?: number | undefined;
  /** 'required': trouble fails the build. */
  readonly need: 'optional' | 'required';
  readonly salt: string;
  /** Undefined: nothing is signed, and no signature is asked for. */
  readonly signatures?: Signatures | undefined;
  /** Removes credentials from messages. */
  readonly mask: (text: string) => string;
}

export interface LocalStores {
  readonly cache: CacheFolder;
  readonly store: BlobStore;
  readonly records: ActionRecords;
}
