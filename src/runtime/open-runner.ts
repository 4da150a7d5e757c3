/** Opens the runner that the params choose: this machine's CPU, a simulation of a device, or an external program. */
import { getDefined } from '../base/invariant.js';
import { openMixedRunner } from './device/mixed-runner.js';
import { openCpuRunner, type Runner } from './device/runner.js';
import { type ExternalParams, type RunnerParams, type SimulateParams, simulateParams } from './device/runner-params.js';
import { openExternalRunner, type RunnerHost } from './external/open-external.js';
import { RunnerError } from './external/runner-error.js';
import type { OpenModel } from './session/session.js';

/** What opens models for `runner: simulate`. `warn` is called for models that are simulated slowly or in part. */
export type OpenSimulated = (params: SimulateParams, warn: (message: string) => void) => OpenModel;

/**
 * Opens a runner. `files` are copied to the external runner's folder; `host` is the stage's context.
 * @param openSimulated opens models in the arithmetic of a device.
 * @param models paths of connected models by name; those that `external.here` names run on this machine.
 * @throws RunnerError if an external runner does not start, or is not what the params require; `runner-here`.
 */
export async function openRunner(
  params: RunnerParams,
  files: Readonly<Record<string, string>>,
  host: RunnerHost,
  models: readonly (readonly [name: string, path: string])[],
  openSimulated: OpenSimulated,
): Promise<Runner> {
  const simulate = simulateParams(params);
  if (simulate !== undefined) return openCpuRunner(openSimulated(simulate, message => host.log('warning', message)));
  if (params.runner === 'cpu') return openCpuRunner();
  const external = getDefined(params.external, 'external');
  const here = findHere(external, models);
  const device = await openExternalRunner(external, files, host);
  return here.size === 0 ? device : openMixedRunner(device, here);
}

interface Closable {
  close(): Promise<void>;
}

/** What was opened on a runner, and how to close both. */
export interface OnRunner<Opened> extends Closable {
  readonly opened: Opened;
}

/** Opens models on a runner that serves nothing else. If that fails, the runner is closed. */
export async function openOnRunner<Opened extends Closable>(
  runner: Runner,
  open: (runner: Runner) => Promise<Opened>,
): Promise<OnRunner<Opened>> {
  try {
    const opened = await open(runner);
    return { opened, close: () => opened.close().finally(runner.close) };
  } catch (error) {
    await runner.close();
    throw error;
  }
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
