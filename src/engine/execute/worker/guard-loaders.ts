/** Guards of Node's two module loaders, for the thread that calls it. */
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { type GuardData, makeGuardCheck } from './guard-check.js';
import type { ModuleCheck } from './load-rule.js';
import { checkResolved } from './module-hooks.js';

/** Refuses modules by the rule. Before Node 22.15, hooks for ES modules cost a thread: 'all that is cheap' leaves them out there. */
export async function guardLoaders(data: GuardData, which: 'all' | 'all that is cheap'): Promise<void> {
  const checkModule = makeGuardCheck(data);
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    nodeModule.registerHooks({
      resolve(specifier: string, context: { readonly parentURL?: string }, next: (specifier: string, context: unknown) => { url: string }) {
        return checkResolved(next(specifier, context), context.parentURL, checkModule);
      },
    });
    return;
  }
  guardRequire(checkModule);
  if (which === 'all') nodeModule.register(new URL('./module-hooks.js', import.meta.url), { data });
}

/** For Node before 22.15: guards the loader of CommonJS modules. */
function guardRequire(checkModule: ModuleCheck): void {
  const { extensions } = createRequire(import.meta.url);
  for (const [ending, load] of Object.entries(extensions)) {
    if (load === undefined) continue;
    extensions[ending] = (module, filename) => {
      const found = checkModule(filename, module.parent?.filename ?? undefined);
      if (found !== undefined) throw new Error(`${found.path} is not in the plugin's code digest`);
      return load(module, filename);
    };
  }
}
