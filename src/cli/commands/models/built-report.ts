/** Reads the JSON artifacts of a built stage, for commands that show them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import type { Json } from '../../../base/json.js';
import { artifactPath } from '../../../engine/model/artifact-path.js';
import type { Plan, PlannedStage } from '../../../engine/model/plan.js';

/** The JSON of an artifact of the last build; undefined if there is none. @throws CodedError `artifact-unreadable`. */
export function readBuiltJson(plan: Plan, stage: PlannedStage, port: string): Json | undefined {
  const path = join(plan.projectFolder, artifactPath(plan, stage, port));
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch (cause) {
    throw new CodedError('artifact-unreadable', `${artifactPath(plan, stage, port)} is not JSON: it was edited or cut off`, {
      help: `tanren build ${stage.id} writes it again`,
      cause,
    });
  }
}

export function notBuilt(stage: PlannedStage): CodedError {
  return new CodedError('not-built', `stage "${stage.id}" has no artifacts: it has not been built, or they were removed`, {
    help: `tanren build ${stage.id}`,
  });
}
