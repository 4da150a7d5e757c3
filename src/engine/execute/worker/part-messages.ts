/** The messages between a worker and its part processes. */
import type { JsonObject } from '../../../base/json.js';
import { isTexts } from '../../store/files/recorded-stamps.js';

/** A part to compute. Paths are absolute. */
export interface PartOrder {
  /** Every order of a part process has another number. Its answer has the same. */
  readonly number: number;
  readonly name: string;
  readonly module: string;
  readonly manifest: JsonObject;
  readonly blobs: Readonly<Record<string, string>>;
  readonly unkeyed: Readonly<Record<string, string>>;
  readonly folder: string;
}

export type FromPartProcess =
  | { readonly kind: 'log'; readonly level: 'info' | 'warning'; readonly message: string }
  /** `names`: files in the folder of the part. `peakBytes`: memory of the process so far. */
  | { readonly kind: 'computed'; readonly number: number; readonly names: readonly string[]; readonly peakBytes: number }
  | { readonly kind: 'failed'; readonly number: number; readonly why: string };

/** The argument after the run folder that makes a worker's program a part process. */
export const PART_PROCESS = 'parts';

/** Whether the value is one of these messages. A plugin shares the channel, so any value may arrive. */
export function isFromPartProcess(value: unknown): value is FromPartProcess {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const message: Partial<Record<'kind' | 'level' | 'message' | 'number' | 'names' | 'peakBytes' | 'why', unknown>> = value;
  switch (message.kind) {
    case 'log':
      return (message.level === 'info' || message.level === 'warning') && typeof message.message === 'string';
    case 'computed':
      return typeof message.number === 'number' && isTexts(message.names) && typeof message.peakBytes === 'number';
    case 'failed':
      return typeof message.number === 'number' && typeof message.why === 'string';
    default:
      return false;
  }
}
