/** The description of a lock's holder, for messages. */

export interface Holder {
  /** Such as "tanren build quantize". */
  readonly command: string;
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  /** Measured by the holder's clock, which is usually the same as ours. */
  readonly sinceMs: number;
}
