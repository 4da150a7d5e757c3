/** Hooks of Node's module loaders that refuse modules outside the code digest. Node without in-thread hooks loads this file into a separate thread. */
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { type FindStranger, type LoadRule, makeFindStranger } from './load-rule.js';

interface HookData {
  readonly rule: LoadRule;
  readonly installRoot: string;
  readonly port: MessagePort;
}

interface Resolved {
  readonly url: string;
}

let findStranger: FindStranger = () => undefined;

export function initialize({ rule, installRoot, port }: HookData): void {
  const find = makeFindStranger(rule, installRoot);
  findStranger = (path, importer) => {
    const stranger = find(path, importer);
    if (stranger !== undefined) port.postMessage(stranger);
    return stranger;
  };
}

export async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: unknown) => Promise<Resolved>,
): Promise<Resolved> {
  return judgeResolved(await next(specifier, context), context.parentURL, findStranger);
}

/** @throws Error if the module is refused. */
export function judgeResolved<T extends Resolved>(resolved: T, parentUrl: string | undefined, find: FindStranger): T {
  if (!resolved.url.startsWith('file:')) return resolved;
  const stranger = find(fileURLToPath(resolved.url), parentUrl?.startsWith('file:') === true ? fileURLToPath(parentUrl) : undefined);
  if (stranger === undefined) return resolved;
  throw new Error(`${stranger.path} is not in the plugin's code digest`);
}
