/** The params of `compile`. */
import type { Device } from '../../src/target/report/compile-report.js';

export interface CompileParams {
  /** A built-in profile, or the name of the connected one. */
  readonly target?: string;
  readonly device?: string;
  readonly dtype?: string;
  /** Version of the vendor's software. */
  readonly software?: string;
  readonly undocumented: Device;
  /** Size name → number. */
  readonly pin: Readonly<Record<string, number>>;
  /** Part → RoIs per image, for the batch table. */
  readonly rois: Readonly<Record<string, readonly number[]>>;
  readonly batches: readonly number[];
  /** Number of golden samples per model in the bundle. */
  readonly golden: number;
}
