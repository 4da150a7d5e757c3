/** The module guard: it keeps a worker and its threads from loading modules that the code digest does not cover, because they would change results under an old key. */
import { EngineError } from '../../model/engine-error.js';
import { guardLoaders } from './guard-loaders.js';
import type { LoadRule, RefusedModule } from './load-rule.js';
import { newRefusals, readRefusal } from './refusals.js';
import { guardThreads } from './thread-guard.js';

export interface ModuleGuard {
  /** Returns an error for the first refused module. The run then counts as failed, even if its plugin caught the error. */
  findRefused(): EngineError | undefined;
}

/** Checks every module that this process, and each thread that it starts, loads from now on. */
export async function guardModules(rule: LoadRule): Promise<ModuleGuard> {
  const refusals = newRefusals();
  // Hooks for ES modules are not needed if every import is a literal, because each imported module is then in the digest.
  await guardLoaders({ rule, refusals }, rule.imports === 'computed' ? 'all' : 'all that is cheap');
  guardThreads({ rule, refusals });
  return {
    findRefused() {
      const found = readRefusal(refusals);
      return found === undefined ? undefined : refusal(found);
    },
  };
}

function refusal({ path, importer }: RefusedModule): EngineError {
  const who = importer === undefined ? 'the plugin' : `module ${importer}`;
  return new EngineError('undeclared-module', `${who} loads ${path}, which is not in the plugin's code digest`, {
    help: "name it by a literal path in the module, or in the plugin's `reads`",
    details: { path, importer: importer ?? null },
  });
}
