/** What a build did with its remote cache. */

export interface RemoteSummary {
  /** The address, without credentials. */
  readonly address: string;
  readonly hits: number;
  readonly misses: number;
  /** Results that went up. */
  readonly uploads: number;
  readonly downloadedBytes: number;
  readonly uploadedBytes: number;
  readonly calls: number;
  /** Time that the runs of the hits took where they ran. */
  readonly savedMs: number;
  /** Stages whose results did not go up, because the build was interrupted or the server failed. */
  readonly dropped: readonly string[];
  /** What went wrong, one sentence each. */
  readonly troubles: readonly string[];
  /** Whether the server was left out for the rest of the build. */
  readonly leftOut: boolean;
}
