/** What did a stage's last run here, or the run that made its restored result, write? */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolderAt } from './cache/cache-folder.js';
import { isMissing } from './engine-error.js';
import type { Plan, StageId } from './plan/plan.js';

/** The log's text; undefined where the stage has not run, or wrote nothing. */
export function findStageLog(plan: Plan, stage: StageId, cacheFolder = join(plan.projectFolder, 'cache')): string | undefined {
  try {
    return readFileSync(cacheFolderAt(cacheFolder).log(plan.pipeline, stage), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
