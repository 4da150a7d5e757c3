/** Under which key does a vendor keep what it compiled? One that changes with everything that we know changes it; the board adds what only it knows. */
import { type Digest, digestJson } from '../../base/digest.js';
import type { ProviderOptions } from './provider-options.js';

/**
 * The vendor's own key is a hash of value names and shapes: a model that was quantized again has the same, and the old compiled model would run.
 * This one is made of the model's bytes, the options and the software's version; the runner adds the versions of execution provider, driver and xclbin.
 *
 * @param model SHA-256 of the model's file.
 */
export function cacheKeyOf(model: Digest, { version, device, providerOptions, environment }: ProviderOptions): Digest {
  return digestJson({ format: 1, model, version, device, providerOptions, environment });
}
