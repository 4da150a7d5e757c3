/** Paths of stage outputs under artifacts/, and the displayed form of project paths. */
import { isAbsolute, relative } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import { ARTIFACT_KINDS } from '../../stage/ports.js';
import type { Plan, PlannedStage } from './plan.js';

/** Returns the folder of a stage's outputs, relative to the project folder: artifacts/<id>, or artifacts/x/<id> for pipelines/x.yaml. */
export function artifactFolder(plan: Pick<Plan, 'pipeline'>, stage: Pick<PlannedStage, 'id'>): string {
  return plan.pipeline === DEFAULT_PIPELINE ? `artifacts/${stage.id}` : `artifacts/${plan.pipeline}/${stage.id}`;
}

/** Returns the file or folder name of an output port: the port's name with the extension of its kind. */
export function artifactName(stage: Pick<PlannedStage, 'outputPorts'>, port: string): string {
  const { kind } = getDefined(stage.outputPorts[port], `output port ${port}`);
  return port + ARTIFACT_KINDS[kind].extension;
}

export function artifactPath(plan: Pick<Plan, 'pipeline'>, stage: PlannedStage, port: string): string {
  return `${artifactFolder(plan, stage)}/${artifactName(stage, port)}`;
}

/** Returns the path relative to the project folder, or unchanged (absolute) if it is outside. */
export function fromProject({ projectFolder }: Pick<Plan, 'projectFolder'>, path: string): string {
  const inner = relative(projectFolder, path);
  return inner.startsWith('..') || isAbsolute(inner) ? path : inner;
}

/** The `pipeline` of pipeline.yaml. */
export const DEFAULT_PIPELINE = 'pipeline';
