/**
 * Predicts whether a partly known action will have a result when its stage is built.
 * The result may come from an earlier build, or from another stage of the same build with an equal action.
 */
import { digestJson } from '../../../base/digest.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { Session } from '../../action/session.js';
import type { StageId } from '../../model/plan.js';
import { listRecords } from '../../store/list-records.js';

/** Manifests here lack the inputs that are not known. */
export interface EqualActions {
  /** Whether the cache has a result of an action that is equal in everything that is known. */
  isRecorded(manifest: JsonObject): boolean;
  /** Records that the stage may run this action. */
  note(stage: StageId, manifest: JsonObject): void;
  /** Another recorded stage whose action may turn out to be equal. The first of them to run makes the result of both. */
  findOther(stage: StageId): StageId | undefined;
}

interface KnownAction {
  readonly stage: StageId | undefined;
  readonly manifest: JsonObject;
}

/** Records are read on the first call that needs them. */
export function createEqualActions({ cache }: Pick<Session, 'cache'>): EqualActions {
  let recorded: ReadonlyMap<string, readonly KnownAction[]> | undefined;
  const noted = new Map<string, KnownAction[]>();
  const byStage = new Map<StageId, JsonObject>();
  return {
    isRecorded(manifest) {
      recorded ??= group([...listRecords(cache)].map(record => ({ stage: undefined, manifest: record.manifest })));
      return (recorded.get(digestOfSelf(manifest)) ?? []).some(other => mayBeSame(manifest.inputs, other.manifest.inputs));
    },
    note(stage, manifest) {
      byStage.set(stage, manifest);
      add(noted, { stage, manifest });
    },
    findOther(stage) {
      const manifest = byStage.get(stage);
      if (manifest === undefined) return undefined;
      const others = noted.get(digestOfSelf(manifest)) ?? [];
      return others.find(other => other.stage !== stage && mayBeSame(manifest.inputs, other.manifest.inputs))?.stage;
    },
  };
}

function group(actions: readonly KnownAction[]): ReadonlyMap<string, readonly KnownAction[]> {
  const groups = new Map<string, KnownAction[]>();
  // Records of parts have no plugin.
  for (const action of actions) if (action.manifest.plugin !== undefined) add(groups, action);
  return groups;
}

function add(groups: Map<string, KnownAction[]>, action: KnownAction): void {
  const self = digestOfSelf(action.manifest);
  const known = groups.get(self);
  if (known === undefined) groups.set(self, [action]);
  else known.push(action);
}

/** The digest of everything but the inputs. */
function digestOfSelf({ inputs: _, ...self }: JsonObject): string {
  return digestJson(self);
}

/** Whether all inputs that both manifests know are equal. */
function mayBeSame(some: Json | undefined, others: Json | undefined): boolean {
  if (!isJsonObject(some) || !isJsonObject(others)) return true;
  return Object.entries(some).every(([name, input]) => {
    const other = others[name];
    if (!isJsonObject(input) || !isJsonObject(other)) return true;
    if (typeof input.digest === 'string') return input.digest === other.digest && input.executable === other.executable;
    return mayBeSame(input, other);
  });
}
