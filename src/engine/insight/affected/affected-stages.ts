/**
 * The stages whose action keys a change of the project can change. Two plans are compared: that of a commit, and the current one.
 * A key is replaced by the digest of everything that determines it; in the place of an input that a stage makes is the digest of that stage.
 */
import { digestBytes, digestJson } from '../../../base/digest.js';
import { getDefined } from '../../../base/invariant.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { findChanges } from '../../action/changes.js';
import { toolsOf } from '../../action/declared.js';
import { describeChangeOf } from '../../action/input-of.js';
import { dependenciesOf, selectStages } from '../../model/dependencies.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { PluginEntry } from '../../model/plugin-entry.js';
import type { Identities } from './git-contents.js';

export interface AffectedStage {
  readonly stage: StageId;
  /** 'changed': its own code, params or inputs; 'new': the commit has no such stage; 'after': only what it reads from affected stages. */
  readonly kind: 'changed' | 'new' | 'after';
  readonly reasons: readonly string[];
  /** Affected stages that it reads from. */
  readonly after: readonly StageId[];
}

export interface Affected {
  /** In the order of the current plan. */
  readonly stages: readonly AffectedStage[];
  /** Stages that only the commit has. */
  readonly removed: readonly StageId[];
}

export interface Contents {
  /** @param path absolute or relative to the project folder. */
  source(path: string): Identities;
  code(entry: PluginEntry): Identities;
  /** @param name as the stage uses it. */
  tool(name: string): Identities;
}

type Side = keyof Identities;

/** @param before the plan of the commit. */
export function findAffected(before: Plan, now: Plan, contents: Contents): Affected {
  const earlier = describePlan(before, 'before', contents);
  const current = describePlan(now, 'now', contents);
  // A result is found by its key, whatever the name of the stage that made it.
  const keys = new Set([...earlier.values()].map(({ key }) => key));
  const affected = new Map<StageId, AffectedStage>();
  for (const [stage, { key, facts }] of current) {
    if (keys.has(key)) continue;
    const planned = getDefined(now.stages.get(stage), stage);
    const after = dependenciesOf(planned).filter(id => affected.has(id));
    const changes = findChanges(earlier.get(stage)?.facts ?? {}, facts);
    const kind = !earlier.has(stage) ? 'new' : changes.length === 0 ? 'after' : 'changed';
    const reasons = kind === 'new' ? [] : changes.map(change => describeChangeOf(planned, change));
    affected.set(stage, { stage, kind, reasons, after });
  }
  return { stages: [...affected.values()], removed: [...before.stages.keys()].filter(stage => !now.stages.has(stage)) };
}

interface Described {
  /** Stands for the action key. */
  readonly key: string;
  /** What determines it, with names of stages in the place of their keys. */
  readonly facts: JsonObject;
}

function describePlan(plan: Plan, side: Side, contents: Contents): ReadonlyMap<StageId, Described> {
  const described = new Map<StageId, Described>();
  const keyOf = (id: StageId): string => getDefined(described.get(id), id).key;
  for (const stage of plan.stages.values()) {
    const facts = factsOf(plan, stage, side, contents);
    const inputs = mapInputs(stage, ref => (ref.kind === 'source' ? sourceOf(ref, side, contents) : `${keyOf(ref.stage)}.${ref.port}`));
    const before = stage.plugin.plugin.needs === 'build-summary' ? [...stagesBefore(plan, stage)].map(({ id }) => [id, keyOf(id)]) : [];
    described.set(stage.id, { facts, key: digestJson({ ...facts, inputs, before }) });
  }
  return described;
}

/** The manifest of the stage as far as both sides have it. What belongs to this machine is the same on both, and is left out. */
function factsOf(plan: Plan, stage: PlannedStage, side: Side, contents: Contents): JsonObject {
  const { plugin } = stage.plugin;
  const tools = Object.fromEntries(toolsOf(stage).map(name => [name, digestOf(contents.tool(name)[side])]));
  const build = plugin.needs === 'build-summary' ? summaryOf(plan, stage) : {};
  return {
    plugin: plugin.name,
    version: plugin.version,
    code: digestOf(contents.code(stage.plugin)[side]),
    params: stage.params,
    inputs: mapInputs(stage, ref => (ref.kind === 'source' ? sourceOf(ref, side, contents) : `${ref.stage}.${ref.port}`)),
    tools,
    env: [...stage.env].sort(),
    secrets: [...stage.secrets].sort(),
    determinism: stage.determinism,
    build,
  };
}

function sourceOf({ path }: Extract<InputRef, { kind: 'source' }>, side: Side, contents: Contents): JsonObject {
  return { kind: 'source', digest: digestOf(contents.source(path)[side]) };
}

function mapInputs({ inputs }: PlannedStage, map: (ref: InputRef) => Json): JsonObject {
  const one = (binding: InputBinding): Json =>
    binding.kind === 'record'
      ? Object.fromEntries(Object.entries(binding.entries).map(([entry, ref]) => [entry, map(ref)] as const))
      : map(binding);
  return Object.fromEntries(Object.entries(inputs).map(([port, binding]) => [port, one(binding)] as const));
}

/** What the plan states of the stages before one that reports on them. */
function summaryOf(plan: Plan, stage: PlannedStage): JsonObject {
  return Object.fromEntries(
    stagesBefore(plan, stage).map(({ id, group, plugin, determinism, gate }) => {
      const gates = gate.map(({ metric, operator, bound }) => [metric, operator, bound]);
      return [id, digestJson({ group, plugin: plugin.name, determinism, gates })] as const;
    }),
  );
}

function stagesBefore(plan: Plan, { id }: PlannedStage): readonly PlannedStage[] {
  return selectStages(plan, [id]).filter(stage => stage.id !== id);
}

function digestOf(identity: string | undefined): string {
  return digestBytes(identity ?? 'absent');
}
