/** The files and folders that can change a plan or its inputs, and a record of which of them existed. */
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toolsOf } from '../action/declared.js';
import { refsOf } from '../model/dependencies.js';
import type { Plan, PlannedStage } from '../model/plan.js';
import { lookAt } from '../store/files/stamp.js';

/**
 * Absolute paths, sorted: `planFiles` (pipeline, params, plugins) and, for every stage, its sources, its programs inside the project, and
 * the paths that its plugin declares to read.
 */
export function watchedPaths(plan: Plan | undefined, planFiles: readonly string[]): readonly string[] {
  const paths = new Set(planFiles);
  if (plan === undefined) return [...paths].sort();
  for (const stage of plan.stages.values()) {
    for (const ref of Object.values(stage.inputs).flatMap(refsOf)) {
      if (ref.kind === 'source') paths.add(resolve(plan.projectFolder, ref.path));
    }
    for (const path of [...ownPrograms(plan, stage), ...declaredReads(stage)]) paths.add(path);
  }
  return [...paths].sort();
}

/** Programs named by a path inside the project. Programs on the PATH change with the system, and every build checks them. */
function ownPrograms({ projectFolder }: Plan, stage: PlannedStage): readonly string[] {
  const named = toolsOf(stage).filter(tool => tool.includes('/'));
  return named.map(tool => resolve(projectFolder, tool)).filter(path => path.startsWith(projectFolder + sep));
}

function declaredReads({ plugin: { plugin, modulePath } }: PlannedStage): readonly string[] {
  return (plugin.reads ?? []).map(read => (read.startsWith('file:') ? fileURLToPath(read) : resolve(dirname(modulePath), read)));
}

/** Records which files existed. A missing file, or an empty file of the plan, is most likely being written at this moment. */
export interface Presence {
  note(paths: readonly string[], planFiles: readonly string[]): void;
  /** Whether a file that existed when last noted is missing, or a plan file that was not empty then is empty. */
  hasGaps(): boolean;
}

export function createPresence(): Presence {
  let there: readonly string[] = [];
  let full: readonly string[] = [];
  return {
    note(paths, planFiles) {
      there = paths.filter(path => sizeAt(path) !== undefined);
      full = planFiles.filter(path => sizeAt(path) !== 0);
    },
    hasGaps: () => there.some(path => sizeAt(path) === undefined) || full.some(path => sizeAt(path) === 0),
  };
}

function sizeAt(path: string): number | undefined {
  try {
    return lookAt(path)?.sizeBytes;
  } catch {
    return undefined;
  }
}
