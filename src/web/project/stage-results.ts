/** The results that the page shows: those that builds accepted, and for other stages those that the cache has for the present inputs. */
import type { Explanation } from '../../engine/insight/explain/explain-stages.js';
import type { AcceptedStage } from '../../engine/model/accepted-stage.js';
import type { Artifacts } from '../../engine/model/artifact.js';
import { sameArtifacts } from '../../engine/model/artifact.js';
import { readRecord } from '../../engine/store/action-records.js';
import type { CacheFolder } from '../../engine/store/cache-folder.js';

export interface StageResult extends Pick<AcceptedStage, 'key' | 'metrics' | 'previousMetrics' | 'durationMs'> {
  readonly outputs: Artifacts;
  /** 'cache': no build of this checkout has placed the outputs under artifacts/. */
  readonly at: 'artifacts' | 'cache';
}

/** A result in the cache is one that a build would restore, as after `tanren cache import` or in a checkout with a shared cache. */
export function findResults(
  accepted: ReadonlyMap<string, AcceptedStage>,
  explained: ReadonlyMap<string, Explanation>,
  cache: CacheFolder,
): ReadonlyMap<string, StageResult> {
  const results = new Map<string, StageResult>();
  for (const [stage, one] of accepted) results.set(stage, { ...one, at: 'artifacts' });
  for (const [stage, { cached }] of explained) {
    if (cached === undefined || accepted.get(stage)?.key === cached.key) continue;
    const known = findRecord(cache, cached.key)?.results.find(({ outputs }) => sameArtifacts(outputs, cached.outputs));
    if (known === undefined) continue;
    const { outputs, metrics, durationMs } = known;
    results.set(stage, { key: cached.key, outputs, metrics, previousMetrics: undefined, durationMs, at: 'cache' });
  }
  return results;
}

function findRecord(cache: CacheFolder, key: string) {
  const record = readRecord(cache, key) ?? (cache.shared === undefined ? undefined : readRecord(cache.shared, key));
  return record === 'damaged' ? undefined : record;
}
