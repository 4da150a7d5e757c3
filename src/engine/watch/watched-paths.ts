/** Which files and folders can change a plan or what it reads, and were they there when they were looked at last? */
import { resolve } from 'node:path';
import { refsOf } from '../model/dependencies.js';
import type { Plan } from '../model/plan.js';
import { lookAt } from '../store/files/stamp.js';

/** Absolute paths, sorted: `planFiles` (pipeline, params, plugins) and the sources of every stage. */
export function watchedPaths(plan: Plan | undefined, planFiles: readonly string[]): readonly string[] {
  const paths = new Set(planFiles);
  for (const stage of plan?.stages.values() ?? []) {
    for (const ref of Object.values(stage.inputs).flatMap(refsOf)) {
      if (ref.kind === 'source') paths.add(resolve(plan?.projectFolder ?? '', ref.path));
    }
  }
  return [...paths].sort();
}

/** Who remembers what was there? A file that is gone, or a file of the plan that is empty, is most likely being written just now. */
export interface Presence {
  note(paths: readonly string[], planFiles: readonly string[]): void;
  /** Is something gone that was there when it was noted last? */
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
