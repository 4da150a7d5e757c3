/** Which files and folders can change a plan or what it reads? */
import { resolve } from 'node:path';
import { refsOf } from '../plan/dependencies.js';
import type { Plan } from '../plan/plan.js';

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
