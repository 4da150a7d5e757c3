/** The files and folders that can change a plan or its inputs, and a record of which of them existed. */
import { resolve, sep } from 'node:path';
import { codeOf } from '../action/code/pinned-code.js';
import { readsOf, sourcePathsOf, toolsOf } from '../action/declared.js';
import type { Plan, PlannedStage } from '../model/plan.js';
import { statPath } from '../store/files/stamp.js';

/**
 * Absolute paths, sorted: `planFiles` (what planning recorded that it read) and, for every stage, its sources, its programs inside the
 * project, and the paths that its plugin declares to read.
 */
export function watchedPaths(plan: Plan | undefined, planFiles: readonly string[]): readonly string[] {
  const paths = new Set(planFiles);
  if (plan === undefined) return [...paths].sort();
  for (const stage of plan.stages.values()) {
    const sources = sourcePathsOf(stage).map(path => resolve(plan.projectFolder, path));
    for (const path of [...sources, ...ownPrograms(plan, stage), ...readsOf(codeOf(stage.plugin))]) paths.add(path);
  }
  return [...paths].sort();
}

/** Programs named by a path inside the project. Programs on the PATH change with the system, and every build checks them. */
function ownPrograms({ projectFolder }: Plan, stage: PlannedStage): readonly string[] {
  const named = toolsOf(stage).filter(tool => tool.includes('/'));
  return named.map(tool => resolve(projectFolder, tool)).filter(path => path.startsWith(projectFolder + sep));
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
    return statPath(path)?.sizeBytes;
  } catch {
    return undefined;
  }
}
