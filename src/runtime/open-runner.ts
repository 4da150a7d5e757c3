/** Opens the runner that the params choose: this machine's CPU, or an external program. */
import { getDefined } from '../base/invariant.js';
import { openCpuRunner, type Runner } from './device/runner.js';
import type { RunnerParams } from './device/runner-params.js';
import { openExternalRunner, type RunnerHost } from './external/open-external.js';

/**
 * Opens a runner. `files` are copied to the external runner's folder; `host` is the stage's context.
 * @throws RunnerError if an external runner does not start, or is not what the params require.
 */
export async function openRunner(
  { runner, external }: RunnerParams,
  files: Readonly<Record<string, string>>,
  host: RunnerHost,
): Promise<Runner> {
  return runner === 'cpu' ? openCpuRunner() : openExternalRunner(getDefined(external, 'external'), files, host);
}
