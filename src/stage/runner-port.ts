/** Through which port do a runner's files come? One record, whose entries stand in the folder that the runner starts in. */
import type { InputPaths } from './define-stage.js';
import { type Ports, recordPort } from './ports.js';

/** The ports that a plugin with `runner` params adds to its own. An entry stands as "./<entry><extension>" in the runner's folder. */
export function runnerPorts({ runner }: { readonly runner: 'cpu' | 'external' }): Ports {
  if (runner !== 'external') return {};
  return {
    runner: recordPort('any', 'Files and folders of the external runner, such as a bundle: each in the key, each in its folder.', {
      optional: true,
    }),
  };
}

/** The files of that port, by entry. */
export function runnerFiles({ runner }: InputPaths): Readonly<Record<string, string>> {
  return typeof runner === 'object' ? runner : {};
}
