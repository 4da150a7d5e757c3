/** Hooks of Node's module loaders that refuse modules outside the code digest. Node without in-thread hooks loads this file into a separate thread. */
import { fileURLToPath } from 'node:url';
import { type GuardData, makeGuardCheck } from './guard-check.js';
import type { ModuleCheck } from './load-rule.js';

interface Resolved {
  readonly url: string;
}

let checkModule: ModuleCheck = () => undefined;

export function initialize(data: GuardData): void {
  checkModule = makeGuardCheck(data);
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
