/** The worker processes that `tanren watch` starts ahead of the next save. */
import { availableParallelism } from 'node:os';
import { installedVersion } from '../../../engine/action/code/code-table.js';
import { WORKER_FLAGS } from '../../../engine/execute/run/worker-run.js';
import { openStandbyWorkers, type StandbyWorkers } from '../../../engine/execute/standby/standby-workers.js';
import { findInstallRoot } from '../../process/install-root.js';

/** For two rounds of stages, such as `quantize` and then `verify`. */
const [MOST_STANDBY, ROUNDS_STANDBY] = [4, 2];

/** Loaded before a stage is known. */
const LIBRARIES = ['onnxruntime-node'];

/** After a build its results are read first, by the page. */
const STANDBY_AFTER_MS = 1_500;

export function openStandby({ jobs = availableParallelism() }: { readonly jobs?: number }): StandbyWorkers {
  const installRoot = findInstallRoot();
  return openStandbyWorkers({
    installRoot,
    environment: process.env,
    flags: WORKER_FLAGS,
    libraries: LIBRARIES,
    versions: () => JSON.stringify(LIBRARIES.map(name => installedVersion(name, installRoot) ?? null)),
    count: Math.min(MOST_STANDBY, ROUNDS_STANDBY * jobs),
    refillAfterMs: STANDBY_AFTER_MS,
  });
}
