/** The worker processes that are started ahead of the next save, or of the next build of the page. */
import { availableParallelism } from 'node:os';
import { stampInstallation } from '../../engine/action/code/code-table.js';
import { WORKER_FLAGS } from '../../engine/execute/run/worker-run.js';
import { openStandbyWorkers, type StandbyWorkers } from '../../engine/execute/standby/standby-workers.js';
import { stampOf } from '../../engine/store/files/stamp.js';
import { findInstallRoot } from '../process/install-root.js';

/** For two rounds of stages, such as `quantize` and then `verify`. */
const [MOST_STANDBY, ROUNDS_STANDBY] = [4, 2];

/** After a build its results are read first, by the page. */
const STANDBY_AFTER_MS = 1_500;

/** @param first bundles whose workers are started at once. */
export function openStandby({ jobs = availableParallelism() }: { readonly jobs?: number }, first: readonly string[] = []): StandbyWorkers {
  const installRoot = findInstallRoot();
  return openStandbyWorkers({
    installRoot,
    environment: process.env,
    flags: WORKER_FLAGS,
    // The build of Tanren writes the bundles and then the table; packages have their versions in files that are stamped too.
    installed: main => JSON.stringify([stampOf(main), stampInstallation(installRoot).followed]),
    count: Math.min(MOST_STANDBY, ROUNDS_STANDBY * jobs),
    refillAfterMs: STANDBY_AFTER_MS,
    first,
  });
}
