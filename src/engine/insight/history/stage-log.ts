/** The log of a stage: of its last run, of the run that made its restored result, or of an earlier run in the history. */
import { join } from 'node:path';
import { isMissing } from '../../../base/system-error.js';
import type { Plan, StageId } from '../../model/plan.js';
import { readRecord } from '../../store/action-records.js';
import { readBlob } from '../../store/blob-store.js';
import { type CacheFolder, cacheFolderAt } from '../../store/cache-folder.js';
import { readRegularText } from '../../store/files/read-regular.js';
import type { RunRecord } from './run-record.js';

/** The text of the log; undefined if the stage has not run or wrote nothing. */
export function findStageLog(plan: Plan, stage: StageId, cacheFolder = join(plan.projectFolder, 'cache')): string | undefined {
  try {
    return readRegularText(cacheFolderAt(cacheFolder).log(plan.pipeline, stage));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export type RunLogAnswer =
  | { readonly kind: 'text'; readonly text: string }
  /** The stage ran and wrote nothing. */
  | { readonly kind: 'nothing' }
  /** The stage had no result in that run or before it. */
  | { readonly kind: 'never-ran' }
  /** The log of a failed run is kept only if it is the newest one; other logs are kept as long as their result is in the cache. */
  | { readonly kind: 'not-kept' };

/** The log of the result that the stage had after a run. If the stage failed in that run, the log of the failure. */
export function findRunLog(plan: Plan, cache: CacheFolder, runs: readonly RunRecord[], index: number, stage: StageId): RunLogAnswer {
  const entries = runs.map(run => run.stages.find(one => one.stage === stage));
  const own = entries[index];
  if (own?.outcome === 'failed') {
    const isNewest = entries
      .slice(index + 1)
      .every(entry => entry === undefined || (entry.attempts === undefined && entry.outcome !== 'restored'));
    return isNewest ? answer(findStageLog(plan, stage, cache.root)) : { kind: 'not-kept' };
  }
  const made = entries.slice(0, index + 1).findLast(entry => entry?.key !== undefined);
  if (made?.key === undefined) return { kind: 'never-ran' };
  const record = readRecord(cache, made.key);
  const result = record === undefined || record === 'damaged' ? undefined : record.results.at(-1);
  if (result === undefined) return { kind: 'not-kept' };
  if (result.log === undefined) return { kind: 'nothing' };
  const bytes = readBlob(cache, result.log.digest);
  return bytes === undefined ? { kind: 'not-kept' } : { kind: 'text', text: bytes.toString() };
}

function answer(text: string | undefined): RunLogAnswer {
  return text === undefined ? { kind: 'nothing' } : { kind: 'text', text };
}
