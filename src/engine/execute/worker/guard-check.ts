/** The check of one module by the rule of a worker: a refused one is reported. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LoadRule, type ModuleCheck, makeModuleCheck } from './load-rule.js';
import { type Refusals, reportRefusal } from './refusals.js';

/** What every guarded thread of a worker has. */
export interface GuardData {
  readonly rule: LoadRule;
  readonly refusals: Refusals;
}

export function makeGuardCheck({ rule, refusals }: GuardData): ModuleCheck {
  const installRoot = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
  const find = makeModuleCheck(rule, installRoot);
  return (path, importer) => {
    const found = find(path, importer);
    if (found !== undefined) reportRefusal(refusals, found);
    return found;
  };
}
