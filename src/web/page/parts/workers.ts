/** Workers of the page. Its policy lets only scripts of the page become workers. */

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

/** @param address of a module of the page, from an import with `?worker&url`. */
export function startWorker(address: string): Worker {
  return new Worker(addresses.createScriptURL(address), { type: 'module' });
}
