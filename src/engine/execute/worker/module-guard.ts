/** The module guard: it keeps a worker from loading modules that its code digest does not cover, because they would change results under an old key. */
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../../model/engine-error.js';
import { type FindStranger, type LoadRule, makeFindStranger, type Stranger } from './load-rule.js';
import { judgeResolved } from './module-hooks.js';

export interface ModuleGuard {
  /** Returns an error for the first refused module. The run then counts as failed, even if its plugin caught the error. */
  findRefused(): EngineError | undefined;
}

/** Checks every module that this process loads from now on. */
export async function guardModules(rule: LoadRule): Promise<ModuleGuard> {
  const installRoot = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
  const refused: Stranger[] = [];
  const find = makeFindStranger(rule, installRoot);
  const findStranger: FindStranger = (path, importer) => {
    const stranger = find(path, importer);
    if (stranger !== undefined) refused.push(stranger);
    return stranger;
  };
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    nodeModule.registerHooks({
      resolve(specifier: string, context: { readonly parentURL?: string }, next: (specifier: string, context: unknown) => { url: string }) {
        return judgeResolved(next(specifier, context), context.parentURL, findStranger);
      },
    });
    return { findRefused: () => toError(refused[0]) };
  }
  guardRequire(findStranger);
  // These hooks need a thread. They are not needed if every import is a literal, because each imported module is then in the digest.
  const isNeeded = rule.imports === 'computed';
  const findOther = isNeeded ? (await import('./import-guard.js')).guardImports(rule, installRoot) : () => undefined;
  return { findRefused: () => toError(refused[0] ?? findOther()) };
}

/** For Node before 22.15: guards the loader of CommonJS modules, in this thread. */
function guardRequire(findStranger: FindStranger): void {
  const { extensions } = createRequire(import.meta.url);
  for (const [ending, load] of Object.entries(extensions)) {
    if (load === undefined) continue;
    extensions[ending] = (module, filename) => {
      const stranger = findStranger(filename, module.parent?.filename ?? undefined);
      if (stranger !== undefined) throw refusal(stranger);
      return load(module, filename);
    };
  }
}

function toError(stranger: Stranger | undefined): EngineError | undefined {
  return stranger === undefined ? undefined : refusal(stranger);
}

function refusal({ path, importer }: Stranger): EngineError {
  const who = importer === undefined ? 'the plugin' : `module ${importer}`;
  return new EngineError('undeclared-module', `${who} loads ${path}, which is not in the plugin's code digest`, {
    help: "name it by a literal path in the module, or in the plugin's `reads`",
    details: { path, importer: importer ?? null },
  });
}
