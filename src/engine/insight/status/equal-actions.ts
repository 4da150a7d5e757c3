/**
 * Predicts whether a partly known action will have a result when its stage is built.
 * The result may come from an earlier build, or from another stage of the same build with an equal action.
 */
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { Session } from '../../action/session.js';
import type { StageId } from '../../model/plan.js';
import { digestOfSelf, type RecordedAction, type RecordIndex } from '../../store/record-index.js';

/** Manifests here lack the inputs that are not known. */
export interface EqualActions {
  /** Whether the cache has a result of an action that is equal in everything that is known. */
  isRecorded(manifest: JsonObject): boolean;
  /** Records that the stage may run this action. */
  note(stage: StageId, manifest: JsonObject): void;
  /** Another recorded stage whose action may turn out to be equal. The first of them to run makes the result of both. */
  findOther(stage: StageId): StageId | undefined;
}

interface NotedAction {
  readonly stage: StageId;
  readonly inputs: Json | undefined;
}

/** Records are read on the first call that needs them. */
export function createEqualActions({ cache }: Pick<Session, 'cache'>, records: RecordIndex): EqualActions {
  let recorded: ReadonlyMap<string, readonly Pick<RecordedAction, 'inputs'>[]> | undefined;
  const noted = new Map<string, NotedAction[]>();
  const byStage = new Map<StageId, JsonObject>();
  return {
    isRecorded(manifest) {
      recorded ??= groupBySelf(records.list(cache));
      return (recorded.get(digestOfSelf(manifest)) ?? []).some(other => mayBeSame(manifest.inputs, other.inputs));
    },
    note(stage, manifest) {
      byStage.set(stage, manifest);
      add(noted, digestOfSelf(manifest), { stage, inputs: manifest.inputs });
    },
    findOther(stage) {
      const manifest = byStage.get(stage);
      if (manifest === undefined) return undefined;
      const others = noted.get(digestOfSelf(manifest)) ?? [];
      return others.find(other => other.stage !== stage && mayBeSame(manifest.inputs, other.inputs))?.stage;
    },
  };
}

function groupBySelf(actions: readonly RecordedAction[]): ReadonlyMap<string, readonly RecordedAction[]> {
  const groups = new Map<string, RecordedAction[]>();
  for (const action of actions) add(groups, action.selfDigest, action);
  return groups;
}

function add<T>(groups: Map<string, T[]>, self: string, action: T): void {
  const known = groups.get(self);
  if (known === undefined) groups.set(self, [action]);
  else known.push(action);
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
