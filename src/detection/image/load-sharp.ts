/** Loads sharp on first use: its native library is slow to load, and most stages read no images. */
import { createRequire } from 'node:module';
import type sharp from 'sharp';

const require = createRequire(import.meta.url);

/** Uses `require`, which takes half the time of `import` because Node does not parse the package for exports. */
export function loadSharp(): typeof sharp {
  return require('sharp') as typeof sharp;
}
