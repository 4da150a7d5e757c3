/** A runner for detectors of which a device runs some models, and this machine the others. */
import { openCpuRunner, type Runner } from './runner.js';

/** Opens the models at the paths in `here` on this machine, and all others on `device`. Its identity is that of the device. */
export function openMixedRunner(device: Runner, here: ReadonlySet<string>): Runner {
  const cpu = openCpuRunner();
  return {
    identity: device.identity,
    open: (model, options) => (typeof model === 'string' && here.has(model) ? cpu : device).open(model, options),
    close: () => cpu.close().finally(device.close),
  };
}
