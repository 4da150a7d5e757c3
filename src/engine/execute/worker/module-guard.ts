/** The module guard: it keeps a worker from loading modules that its code digest does not cover, because they would change results under an old key. */
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../model/engine-error.js';
import { type LoadRule, type ModuleCheck, makeModuleCheck, type RefusedModule } from './load-rule.js';
import { checkResolved } from './module-hooks.js';

export interface ModuleGuard {
  /** Returns an error for the first refused module. The run then counts as failed, even if its plugin caught the error. */
  findRefused(): EngineError | undefined;
}

/** Checks every module that this process loads from now on. */
export async function guardModules(rule: LoadRule): Promise<ModuleGuard> {
  const installRoot = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
  const refused: RefusedModule[] = [];
  const find = makeModuleCheck(rule, installRoot);
  const checkModule: ModuleCheck = (path, importer) => {
    const found = find(path, importer);
    if (found !== undefined) refused.push(found);
    return found;
  };
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    nodeModule.registerHooks({
      resolve(specifier: string, context: { readonly parentURL?: string }, next: (specifier: string, context: unknown) => { url: string }) {
        return checkResolved(next(specifier, context), context.parentURL, checkModule);
      },
    });
    return { findRefused: () => toError(refused[0]) };
  }
  guardRequire(checkModule);
  // These hooks need a thread. They are not needed if every import is a literal, because each imported module is then in the digest.
  const isNeeded = rule.imports === 'computed';
  const findOther = isNeeded ? (await import('./import-guard.js')).guardImports(rule, installRoot) : () => undefined;
  return { findRefused: () => toError(refused[0] ?? findOther()) };
}

/** For Node before 22.15: guards the loader of CommonJS modules, in this thread. */
function guardRequire(checkModule: ModuleCheck): void {
  const { extensions } = createRequire(import.meta.url);
  for (const [ending, load] of Object.entries(extensions)) {
    if (load === undefined) continue;
    extensions[ending] = (module, filename) => {
      const found = checkModule(filename, module.parent?.filename ?? undefined);
      if (found !== undefined) throw refusal(found);
      return load(module, filename);
    };
  }
}

function toError(found: RefusedModule | undefined): EngineError | undefined {
  return found === undefined ? undefined : refusal(found);
}

function refusal({ path, importer }: RefusedModule): EngineError {
  const who = importer === undefined ? 'the plugin' : `module ${importer}`;
  return new EngineError('undeclared-module', `${who} loads ${path}, which is not in the plugin's code digest`, {
    help: "name it by a literal path in the module, or in the plugin's `reads`",
    details: { path, importer: importer ?? null },
  });
}
