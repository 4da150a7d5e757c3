/** Finds the stages whose last result no longer belongs to the present files and parameters. */
import type { RunRecord } from '../../../engine/insight/history/run-record.js';
import { examineStages } from '../../../engine/insight/status/status.js';
import type { Plan } from '../../../engine/model/plan.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { load, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';

/**
 * The parameters are those that the options give; without any, those that the newest run was asked for. Nothing is written, and stages that have no result
 * are among them.
 */
export async function findOutdated(plan: Plan, options: PipelineOptions, newest: RunRecord | undefined): Promise<ReadonlySet<string>> {
  const asked = newest?.asked.params ?? [];
  const isGiven = options.param.length > 0 || options.paramsFile.length > 0;
  const built = isGiven || asked.length === 0 ? plan : ((await load({ ...options, param: asked }, 'read-only')).plan ?? plan);
  const examined = await examineStages(
    built,
    { targets: 'all', force: 'never', sharedCache: findSharedCache(options.cache) },
    makeEnginePorts(() => undefined, neverAborted),
  );
  return new Set([...plan.stages.keys()].filter(stage => examined.get(stage)?.status.kind !== 'up-to-date'));
}

/** Explains the mark "(outdated)". */
export const OUTDATED_NOTE = '(outdated): of earlier files, params or code; tanren status says what changed';
