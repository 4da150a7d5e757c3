/** The params of `command`. */
import type { Place } from './places.js';

export interface CommandParams {
  readonly run: readonly string[];
  readonly shell: 'none' | 'sh';
  readonly inputs: Readonly<Record<string, Place>>;
  readonly outputs: Readonly<Record<string, Place>>;
  readonly tools: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly determinism: 'exact' | 'measured';
}
