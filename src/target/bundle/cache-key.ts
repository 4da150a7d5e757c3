/** Cache keys of compiled models: they change with the model, the options and the software version. */
import { type Digest, digestJson } from '../../base/digest.js';
import type { ProviderOptions } from './provider-options.js';

/**
 * The vendor's own key is a hash of value names and shapes. A requantized model has the same key, so the old compiled model would run.
 * This key covers the model's bytes, the options and the software version; the runner adds the versions of execution provider, driver and xclbin.
 *
 * @param model SHA-256 of the model file.
 */
export function cacheKeyOf(model: Digest, { version, device, providerOptions, environment, configFile }: ProviderOptions): Digest {
  return digestJson({
    format: 1,
    model,
    version,
    device,
    providerOptions,
    environment,
    ...(configFile === undefined ? {} : { configFile }),
  });
}
