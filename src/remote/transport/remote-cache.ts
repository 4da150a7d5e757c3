/** A remote cache, whatever its transport: action results under digests of actions, and blobs under their own digests. */
import type { Digest } from '../../base/digest.js';
import type { WireResult } from '../wire/reapi.js';
import type { RemoteExecution } from './remote-execution.js';

export interface BlobDigest {
  readonly hash: Digest;
  readonly sizeBytes: number;
}

/** A blob to upload: its bytes, or the path of a file that holds them. */
export type BlobSource = BlobDigest & ({ readonly bytes: Uint8Array } | { readonly path: string });

export interface RemoteCache {
  /** The result of an action; undefined if the cache has none. */
  getResult(action: BlobDigest): Promise<WireResult | undefined>;
  /** Everything that the result names must have been uploaded before. */
  putResult(action: BlobDigest, result: WireResult): Promise<void>;
  /**
   * The blobs that the cache lacks. A cache that cannot answer without sending the blobs is 'unable': a reader must then try, and a
   * writer must send everything.
   */
  findMissing(blobs: readonly BlobDigest[]): Promise<readonly BlobDigest[] | 'unable'>;
  /** The verified bytes of small blobs by hash. Blobs that the cache lacks are absent. */
  readBlobs(blobs: readonly BlobDigest[]): Promise<ReadonlyMap<Digest, Uint8Array>>;
  /** Writes a blob to a new file and verifies it. Nothing is left at `path` unless the result is 'found'. */
  readFile(blob: BlobDigest, path: string): Promise<'found' | 'missing'>;
  writeBlobs(blobs: readonly BlobSource[]): Promise<void>;
  /** Asks the server what it is. */
  describe(): Promise<ServerFacts>;
  readonly traffic: Traffic;
  /** Workers of the same server and instance. Undefined if the transport has no such calls. */
  readonly execution: RemoteExecution | undefined;
  /** Ends all calls. */
  close(): void;
}

export interface ServerFacts {
  /** Such as "REAPI 2.0 to 2.3, SHA-256". */
  readonly protocol: string;
  /** Whether the server takes results; undefined if only a write would show it. */
  readonly writable: boolean | undefined;
  /** Whether workers run actions; undefined if the server does not say. */
  readonly executes: boolean | undefined;
}

/** What the calls so far have moved. Only content counts as bytes. */
export interface Traffic {
  calls: number;
  downloadedBytes: number;
  uploadedBytes: number;
}

/** All methods throw RemoteError; every call is repeated as `Patience` says before it throws. */
export interface Patience {
  /** The time that a call may take, without the time for its bytes. */
  readonly callMs: number;
  /** Slower transfers are given up. */
  readonly minBytesPerSecond: number;
  readonly attempts: number;
  /** The wait before the second attempt; it doubles with each further one. */
  readonly firstWaitMs: number;
  /** A server that asks to wait longer is given up. */
  readonly longestWaitMs: number;
}

export const USUAL_PATIENCE: Patience = {
  callMs: 10_000,
  minBytesPerSecond: 100_000,
  attempts: 3,
  firstWaitMs: 100,
  longestWaitMs: 10_000,
};

export interface Connection {
  readonly patience: Patience;
  /** Sent with every call, and only to the origin of the address. */
  readonly headers: Readonly<Record<string, string>>;
  /** Removes the secrets of the headers from a text: a server may repeat what it was sent. */
  readonly mask: (text: string) => string;
  readonly tls: TlsFiles;
  /** Name and version of the program that calls. */
  readonly program: { readonly name: string; readonly version: string };
}

/** PEM texts. `ca` replaces the system's authorities; `certificate` and `key` identify this client. */
export interface TlsFiles {
  readonly ca?: Buffer | undefined;
  readonly certificate?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export function deadlineMs({ callMs, minBytesPerSecond }: Patience, sizeBytes: number): number {
  return callMs + (sizeBytes / minBytesPerSecond) * 1000;
}
