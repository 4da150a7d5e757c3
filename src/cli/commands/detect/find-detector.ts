/** Finds the detector that a stage runs: the models, recipe and config that it reads, as the last build left them. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { artifactPath } from '../../../engine/model/artifact-path.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../../engine/model/plan.js';

/** The paths of the files that a stage runs, and its params. */
export interface BuiltDetector {
  readonly stage: StageId;
  /** Paths of the models by part. */
  readonly parts: Readonly<Record<string, string>>;
  readonly recipe: string;
  /** If absent: the config in the recipe. */
  readonly config: string | undefined;
  readonly params: PlannedStage['params'];
  /** The stages that made any of these files. */
  readonly madeBy: readonly StageId[];
}

/**
 * Finds the detector of a stage. A stage has a detector if it reads a recipe and one record of models, as `evaluate` does.
 * @param toBuild returns the command that builds the given stages.
 * @throws CodedError `no-detector` with the stages that have one, `not-built` with the command that builds what is missing.
 */
export function findDetector(plan: Plan, id: StageId, toBuild: (stages: readonly StageId[]) => string): BuiltDetector {
  const stage = plan.stages.get(id);
  const bound = stage === undefined ? undefined : findBindings(stage);
  if (stage === undefined || bound === undefined) throw noDetector(plan, id, stage);
  const refs = [bound.recipe, ...(bound.config === undefined ? [] : [bound.config]), ...Object.values(bound.parts)];
  const missing = refs.filter(ref => !existsSync(pathOf(plan, ref)));
  if (missing.length > 0) throw notBuilt(plan, id, missing, toBuild);
  return {
    stage: id,
    parts: Object.fromEntries(Object.entries(bound.parts).map(([part, ref]) => [part, pathOf(plan, ref)])),
    recipe: pathOf(plan, bound.recipe),
    config: bound.config === undefined ? undefined : pathOf(plan, bound.config),
    params: stage.params,
    madeBy: makersOf(refs),
  };
}

interface Bindings {
  readonly parts: Readonly<Record<string, InputRef>>;
  readonly recipe: InputRef;
  readonly config: InputRef | undefined;
}

function findBindings(stage: PlannedStage): Bindings | undefined {
  const ofKind = (kind: string): readonly InputBinding[] =>
    Object.entries(stage.inputPorts).flatMap(([name, port]) =>
      port.kind === kind && stage.inputs[name] !== undefined ? [stage.inputs[name]] : [],
    );
  const [recipe, ...otherRecipes] = ofKind('recipe');
  const [parts, ...otherParts] = ofKind('onnx-model').filter(binding => binding.kind === 'record');
  const [config] = ofKind('detector-config');
  if (recipe === undefined || recipe.kind === 'record' || parts?.kind !== 'record') return undefined;
  if (otherRecipes.length > 0 || otherParts.length > 0 || config?.kind === 'record') return undefined;
  return { parts: parts.entries, recipe, config };
}

function pathOf(plan: Plan, ref: InputRef): string {
  if (ref.kind === 'source') return isAbsolute(ref.path) ? ref.path : join(plan.projectFolder, ref.path);
  const maker = plan.stages.get(ref.stage);
  return maker === undefined ? '' : join(plan.projectFolder, artifactPath(plan, maker, ref.port));
}

function makersOf(refs: readonly InputRef[]): readonly StageId[] {
  return [...new Set(refs.flatMap(ref => (ref.kind === 'artifact' ? [ref.stage] : [])))];
}

function noDetector(plan: Plan, id: StageId, stage: PlannedStage | undefined): CodedError {
  const names = [...plan.stages.values()].filter(one => findBindings(one) !== undefined).map(one => one.id);
  const uses = stage === undefined ? '' : `, which uses ${stage.plugin.name},`;
  return new CodedError(
    'no-detector',
    `stage "${id}"${uses} does not run a detector: it does not read the models of all parts and their recipe`,
    {
      help: names.length === 0 ? 'no stage of the pipeline does: add one that uses `evaluate`' : `stages that do: ${names.join(', ')}`,
    },
  );
}

function notBuilt(plan: Plan, id: StageId, missing: readonly InputRef[], toBuild: (stages: readonly StageId[]) => string): CodedError {
  const makers = makersOf(missing);
  const files = missing.filter(ref => ref.kind === 'source').map(ref => pathOf(plan, ref));
  const what = [
    ...(makers.length > 0
      ? [`${makers.join(', ')} ${makers.length === 1 ? 'has' : 'have'} not been built, or the artifacts were removed`]
      : []),
    ...(files.length > 0 ? [`${files.join(', ')} ${files.length === 1 ? 'does' : 'do'} not exist`] : []),
  ];
  return new CodedError('not-built', `the detector of "${id}" is not built: ${what.join('; ')}`, {
    help: makers.length > 0 ? toBuild(makers) : 'restore the file, or name another source',
  });
}
