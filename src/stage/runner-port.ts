/** The input port for the files of an external runner: a record whose entries are copied to the runner's folder. */
import type { InputPaths } from './define-stage.js';
import { type Ports, recordPort } from './ports.js';

/** Ports that a plugin with `runner` params adds to its own. An entry becomes "./<entry><extension>" in the runner's folder. */
export function runnerPorts({ runner }: { readonly runner: 'cpu' | 'simulate' | 'external' }): Ports {
  if (runner !== 'external') return {};
  return {
    runner: recordPort(
      'any',
      'Files and folders of the external runner, such as a bundle: each is part of the key and copied to the folder of the runner.',
      {
        optional: true,
      },
    ),
  };
}

/** The files of that port, by entry. */
export function runnerFiles({ runner }: InputPaths): Readonly<Record<string, string>> {
  return typeof runner === 'object' ? runner : {};
}
