/** Opens the runner that the params choose: this machine's CPU, or an external program. */
import { getDefined } from '../base/invariant.js';
import { openMixedRunner } from './device/mixed-runner.js';
import { openCpuRunner, type Runner } from './device/runner.js';
import type { ExternalParams, RunnerParams } from './device/runner-params.js';
import { openExternalRunner, type RunnerHost } from './external/open-external.js';
import { RunnerError } from './external/runner-error.js';

/**
 * Opens a runner. `files` are copied to the external runner's folder; `host` is the stage's context.
 * @param models paths of connected models by name; those that `external.here` names run on this machine.
 * @throws RunnerError if an external runner does not start, or is not what the params require; `runner-here`.
 */
export async function openRunner(
  { runner, external }: RunnerParams,
  files: Readonly<Record<string, string>>,
  host: RunnerHost,
  models: readonly (readonly [name: string, path: string])[],
): Promise<Runner> {
  if (runner === 'cpu') return openCpuRunner();
  const params = getDefined(external, 'external');
  const here = findHere(params, models);
  const device = await openExternalRunner(params, files, host);
  return here.size === 0 ? device : openMixedRunner(device, here);
}

/** Paths of the models that run on this machine. */
function findHere({ here }: ExternalParams, models: readonly (readonly [string, string])[]): ReadonlySet<string> {
  const unknown = here.find(name => models.every(([own]) => own !== name));
  if (unknown === undefined) return new Set(models.filter(([name]) => here.includes(name)).map(([, path]) => path));
  const names = [...new Set(models.map(([name]) => name))].join(', ');
  throw new RunnerError('runner-here', `\`external.here\` names "${unknown}", which is not a connected model`, {
    help: names === '' ? 'remove `here`: this stage has one model without a name' : `choose among ${names}`,
  });
}
