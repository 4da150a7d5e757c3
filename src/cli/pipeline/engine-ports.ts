/** The engine's ports to this process: environment, clock, signal and platform class. */
import { InvalidArgumentError } from 'commander';
import type { BuildEvent } from '../../engine/model/events.js';
import type { EnginePorts, StandbyPort } from '../../engine/model/ports.js';
import { platformGuard } from '../../runtime/platform/platform-guard.js';
import { followStages } from '../process/early-exit.js';
import { findInstallRoot } from '../process/install-root.js';

let offered: StandbyPort | undefined;

/** From now on, the builds of this process take workers that were started ahead. */
export function offerStandby(standby: StandbyPort): void {
  offered = standby;
}

export function makeEnginePorts(emit: (event: BuildEvent) => void, signal: AbortSignal): EnginePorts {
  return {
    installRoot: findInstallRoot(),
    environment: process.env,
    platformClass: {
      guard: platformGuard,
      compute: async () => (await import('../../runtime/platform/platform-class.js')).computePlatformClass(),
    },
    runtime: async use => (await import('../exec/runtime-files.js')).listRuntimeFiles(findInstallRoot(), use),
    ...(offered === undefined ? {} : { standby: offered }),
    artifacts: readArtifactForm(process.env.TANREN_ARTIFACTS),
    emit: event => {
      followStages(event);
      emit(event);
    },
    nowMs: Date.now,
    signal,
  };
}

/** @throws InvalidArgumentError */
function readArtifactForm(value: string | undefined): 'copies' | 'links' {
  if (value === undefined || value === '' || value === 'copies') return 'copies';
  if (value === 'links') return 'links';
  throw new InvalidArgumentError(`TANREN_ARTIFACTS is "${value}"; expected copies or links`);
}

/** The signal for read-only commands. Ctrl-C ends their process at once, because there is nothing to clean up. */
export const neverAborted: AbortSignal = new AbortController().signal;
