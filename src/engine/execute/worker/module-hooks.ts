/** Hooks of Node's module loaders that refuse modules outside the code digest. Node without in-thread hooks loads this file into a separate thread. */
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { type LoadRule, type ModuleCheck, makeModuleCheck } from './load-rule.js';

interface HookData {
  readonly rule: LoadRule;
  readonly installRoot: string;
  readonly port: MessagePort;
}

interface Resolved {
  readonly url: string;
}

let checkModule: ModuleCheck = () => undefined;

export function initialize({ rule, installRoot, port }: HookData): void {
  const find = makeModuleCheck(rule, installRoot);
  checkModule = (path, importer) => {
    const found = find(path, importer);
    if (found !== undefined) port.postMessage(found);
    return found;
  };
}

export async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: unknown) => Promise<Resolved>,
): Promise<Resolved> {
  return checkResolved(await next(specifier, context), context.parentURL, checkModule);
}

/** @throws Error if the module is refused. */
export function checkResolved<T extends Resolved>(resolved: T, parentUrl: string | undefined, find: ModuleCheck): T {
  if (!resolved.url.startsWith('file:')) return resolved;
  const found = find(fileURLToPath(resolved.url), parentUrl?.startsWith('file:') === true ? fileURLToPath(parentUrl) : undefined);
  if (found === undefined) return resolved;
  throw new Error(`${found.path} is not in the plugin's code digest`);
}
