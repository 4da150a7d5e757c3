/** What the figures of a sweep come from, as a digest: the stages that it builds, and their sources. */
import { resolve } from 'node:path';
import { digestJson } from '../../base/digest.js';
import type { Json } from '../../base/json.js';
import { sourcePathsOf } from '../../engine/action/declared.js';
import { keyOf } from '../../engine/action/manifest.js';
import { dependenciesOf, selectStages } from '../../engine/model/dependencies.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../engine/model/plan.js';
import { stampOf } from '../../engine/store/files/stamp.js';
import type { ProjectState } from './live-project.js';

export type BasisState = Pick<ProjectState, 'plan' | 'explained' | 'accepted'>;

/**
 * Equal while the targets and all stages before them are equal: plugins, params, connections and sources. Comments of the file, gates, and what
 * builds do, change nothing. Sources are compared by their stamps; of a stage that reads sources alone, also by their content.
 * @returns undefined if the pipeline file has errors.
 */
export function basisOf(state: BasisState, targets: readonly string[]): string | undefined {
  const { plan } = state;
  if (plan === undefined) return undefined;
  const ids = targets.flatMap(name => plan.targets.get(name) ?? []);
  const stages = selectStages(plan, targets.length === 0 ? 'all' : ids);
  return digestJson(stages.map(stage => describeStage(plan, stage, state)));
}

function describeStage({ projectFolder }: Plan, stage: PlannedStage, state: BasisState): Json {
  const { id, plugin, params, inputs, env } = stage;
  return {
    id,
    plugin: plugin.name,
    params,
    env,
    inputs: Object.entries(inputs).map(([port, binding]) => [port, describeBinding(binding)]),
    sources: sourcePathsOf(stage).map(path => [path, stampOf(resolve(projectFolder, path))]),
    key: dependenciesOf(stage).length === 0 ? findKey(id, state) : '',
  };
}

/** The key of a stage that depends on no other: builds do not change it. An examination gives no manifest of what is up to date. */
function findKey(id: StageId, { explained, accepted }: BasisState): string {
  const explanation = explained.get(id);
  if (explanation?.status.kind === 'up-to-date') return accepted.get(id)?.key ?? '';
  return explanation?.manifest === undefined ? '' : keyOf(explanation.manifest);
}

function describeBinding(binding: InputBinding): Json {
  if (binding.kind !== 'record') return describeRef(binding);
  return Object.entries(binding.entries).map(([entry, ref]) => [entry, describeRef(ref)]);
}

function describeRef(ref: InputRef): Json {
  return ref.kind === 'source' ? { source: ref.path } : { artifact: `${ref.stage}.${ref.port}` };
}
