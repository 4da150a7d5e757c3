/** The check that a no-op record still holds: everything that it names is unchanged. Reads no file other than the record. */
import type { Digest } from '../../base/digest.js';
import { identifyHost } from '../action/host.js';
import { resolveTool } from '../action/tools.js';
import { labelVariable } from '../action/variable.js';
import type { EnginePorts } from '../model/ports.js';
import { looksTheSame } from '../store/files/sights.js';
import type { Seal } from './seal.js';

export interface SealNeeds {
  readonly request: string;
  readonly projectFolder: string;
  readonly environment: EnginePorts['environment'];
  /** Guard of the platform class. */
  readonly guard: EnginePorts['platformClass']['guard'];
  /** The SHA-256 of a text. It is a parameter because loading Node's implementation takes longer than everything else. */
  readonly digest: (text: string) => Digest;
}

/** @throws EngineError or file system errors if a file is missing or cannot be accessed. */
export function holds(seal: Seal, needs: SealNeeds): boolean {
  const { environment, projectFolder } = needs;
  const path = environment.PATH ?? environment.Path;
  return (
    seal.request === needs.request &&
    seal.environment.every(([name, digest]) => {
      const value = environment[name];
      return (value === undefined ? null : needs.digest(labelVariable(value))) === digest;
    }) &&
    seal.programs.every(([name, at]) => resolveTool(name, projectFolder, path) === at) &&
    (seal.host === null || seal.host === identifyHost()) &&
    (seal.platform === null || seal.platform === needs.guard()) &&
    looksTheSame(seal.sights, projectFolder)
  );
}
