/** What the holder of a lock says of itself, for people. */

export interface Holder {
  /** "tanren build quantize". */
  readonly command: string;
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  /** Of its clock, which is most often ours too. */
  readonly sinceMs: number;
}
