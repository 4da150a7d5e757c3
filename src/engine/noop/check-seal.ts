/** Does a seal still hold? Only if all that it names is as it was. Reads nothing but the seal. */
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
  /** The SHA-256 of a text. It comes from outside, as loading Node's takes longer than all the rest. */
  readonly digest: (text: string) => Digest;
}

/** @throws EngineError, or what the file system throws, where something is not there or cannot be looked at. */
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
