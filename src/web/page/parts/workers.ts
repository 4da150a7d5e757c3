/** Workers of the page. Its policy lets only scripts of the page become workers. */
import { ApiError } from '../api/client.js';
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
 * @param fail is told when the worker cannot load, runs out of memory, or answers nothing for another reason. The worker is ended by then.
 */
export function startWorker(address: string, fail: (error: ApiError) => void): Worker {
  const worker = start(address);
  const end = (reason: string): void => {
    worker.terminate();
    const message = `a computation of the page has stopped: ${reason}`;
    fail(new ApiError(0, 'worker-stopped', message, 'reload the page; if it stops again, close other tabs, as it may lack memory'));
  };
  worker.onerror = ({ message }) => end(message || 'its script could not be loaded, or it ran out of memory');
  worker.onmessageerror = () => end('its answer could not be read');
  return worker;
}

function start(address: string): Worker {
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
