/** How `tanren watch` looks at its files: each look loads the pipeline anew, and watches the paths that it now reads. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Revision } from '../../../engine/model/revisions.js';
import { createPresence, watchedPaths } from '../../../engine/watch/watched-paths.js';
import type { FileWatcher } from '../../../engine/watch/watcher.js';
import { load, type PipelineOptions, printDiagnostics, resolveTargets } from '../../pipeline/open-plan.js';
import type { Console } from '../../terminal/console.js';

/** The plan of the current files; undefined after diagnostics are printed if the files have errors. */
export type Look = () => Promise<Revision | undefined>;

/** A file that has just disappeared is most likely being replaced: editors and Git remove a file before they write it. */
const REPLACED_MS = 100;

export function createLook(
  targets: readonly string[],
  options: PipelineOptions,
  console: Console,
  watcher: FileWatcher,
  signal: AbortSignal,
): Look {
  const presence = createPresence();
  let shown = '';
  return async () => {
    if (presence.hasGaps()) await sleep(REPLACED_MS, undefined, { signal }).catch(() => undefined);
    let loaded = await load(options, 'keep');
    for (;;) {
      const inputs = watchedPaths(loaded.plan, loaded.reads.paths);
      presence.note(inputs, loaded.reads.paths);
      const projectFolder = loaded.plan?.projectFolder ?? process.cwd();
      if (watcher.watch({ inputs, outputs: join(projectFolder, 'artifacts'), projectFolder }) === 'same') break;
      loaded = await load(options, 'keep');
    }
    const { targets: resolved, diagnostics } = resolveTargets(loaded, targets);
    const isWrong = loaded.plan === undefined || resolved === undefined;
    // Warnings are printed once, not again in every round.
    const text = JSON.stringify(diagnostics);
    if (isWrong || text !== shown) printDiagnostics(diagnostics, loaded.sources, console);
    shown = text;
    return loaded.plan === undefined || resolved === undefined ? undefined : { plan: loaded.plan, targets: resolved };
  };
}
