/** Loads sharp when the first image is read or written: its native library takes long to load, and most stages have no image. */
import { createRequire } from 'node:module';
import type sharp from 'sharp';

const require = createRequire(import.meta.url);

/** By `require`, which takes half the time of `import`: Node parses no file of the package for its exports. */
export function loadSharp(): typeof sharp {
  return require('sharp') as typeof sharp;
}
