/** Finds the action that made an earlier result. All records of the cache are read on the first request. */
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { Session } from '../../action/session.js';
import type { StageId } from '../../model/plan.js';
import { readRecord } from '../../store/action-records.js';
import type { CacheFolder } from '../../store/cache-folder.js';
import type { RecordedAction, RecordIndex } from '../../store/record-index.js';

export interface EarlierActions {
  /** The manifest of an action of the plugin that produced this artifact (`{kind, digest}`). */
  findMaker(plugin: string, artifact: Json | undefined): JsonObject | undefined;
  /** The manifest of the stage's accepted result. */
  findAccepted(stage: StageId): Promise<JsonObject | undefined>;
}

export function createEarlierActions(
  { cache, records, state }: Pick<Session, 'cache' | 'records' | 'state'>,
  recorded: RecordIndex,
): EarlierActions {
  /** Keys by plugin and output. */
  let makers: ReadonlyMap<string, string> | undefined;
  return {
    findMaker(plugin, artifact) {
      makers ??= indexMakers(recorded.list(cache));
      const key = isJsonObject(artifact) ? makers.get(`${plugin} ${String(artifact.digest)}`) : undefined;
      return key === undefined ? undefined : findManifest(cache, key);
    },
    async findAccepted(stage) {
      const accepted = state.stages.get(stage);
      const record = accepted === undefined ? undefined : await records.find(accepted.key);
      return record === undefined || record === 'damaged' ? undefined : record.manifest;
    },
  };
}

function indexMakers(actions: readonly RecordedAction[]): ReadonlyMap<string, string> {
  return new Map(actions.flatMap(({ key, plugin, outputs }) => outputs.map(digest => [`${plugin} ${digest}`, key] as const)));
}

function findManifest(cache: CacheFolder, key: string): JsonObject | undefined {
  const record = readRecord(cache, key);
  if (record !== undefined && record !== 'damaged') return record.manifest;
  return cache.shared === undefined ? undefined : findManifest(cache.shared, key);
}
