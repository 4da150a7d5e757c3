/** Workers of the page. Its policy lets only scripts of the page become workers. */
import { isSaved } from '../api/saved.js';

interface ScriptAddresses {
  createScriptURL(address: string): string;
}

const addresses: ScriptAddresses = (
  globalThis as { trustedTypes?: { createPolicy(name: string, rules: ScriptAddresses): ScriptAddresses } }
).trustedTypes?.createPolicy('tanren', {
  createScriptURL: address => {
    if (new URL(address, location.href).origin !== location.origin) throw new TypeError(`${address} is not of this page`);
    return address;
  },
}) ?? { createScriptURL: address => address };

/**
 * @param address of a module of the page, from an import with `?worker&url`; in a saved page the import gives the code itself.
 */
export function startWorker(address: string): Worker {
  if (isSaved) return startCode(address);
  return new Worker(addresses.createScriptURL(address), { type: 'module' });
}

const blobs = new Map<string, string>();

/** One blob per code: the page keeps it as long as it is open. */
function startCode(code: string): Worker {
  const known = blobs.get(code) ?? URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  blobs.set(code, known);
  return new Worker(known);
}
