/** Finds the action that made an earlier result. All records of the cache are read on the first request. */
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { Session } from '../../action/session.js';
import type { StageId } from '../../model/plan.js';
import { listRecords } from '../../store/list-records.js';

export interface EarlierActions {
  /** The manifest of an action of the plugin that produced this artifact (`{kind, digest}`). */
  findMaker(plugin: string, artifact: Json | undefined): JsonObject | undefined;
  /** The manifest of the stage's accepted result. */
  findAccepted(stage: StageId): Promise<JsonObject | undefined>;
}

export function createEarlierActions({ cache, records, state }: Pick<Session, 'cache' | 'records' | 'state'>): EarlierActions {
  let makers: Map<string, JsonObject> | undefined;
  return {
    findMaker(plugin, artifact) {
      makers ??= indexMakers(cache);
      return isJsonObject(artifact) ? makers.get(`${plugin} ${String(artifact.digest)}`) : undefined;
    },
    async findAccepted(stage) {
      const accepted = state.stages.get(stage);
      const record = accepted === undefined ? undefined : await records.find(accepted.key);
      return record === undefined || record === 'damaged' ? undefined : record.manifest;
    },
  };
}

function indexMakers(cache: Session['cache']): Map<string, JsonObject> {
  const makers = new Map<string, JsonObject>();
  for (const { manifest, results } of listRecords(cache)) {
    for (const { outputs } of results) {
      for (const { digest } of Object.values(outputs)) makers.set(`${String(manifest.plugin)} ${digest}`, manifest);
    }
  }
  return makers;
}
