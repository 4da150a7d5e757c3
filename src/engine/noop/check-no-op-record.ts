/** The check that a no-op record still holds: everything that it names is unchanged. Reads no file other than the record. */
import type { Digest } from '../../base/digest.js';
import { identifyHost } from '../action/host.js';
import { resolveTool } from '../action/tools.js';
import { labelVariable } from '../action/variable.js';
import type { EnginePorts } from '../model/ports.js';
import { areUnchanged } from '../store/files/recorded-stamps.js';
import type { NoOpRecord } from './no-op-record.js';

export interface NoOpConditions {
  readonly request: string;
  readonly projectFolder: string;
  readonly environment: EnginePorts['environment'];
  /** Guard of the platform class. */
  readonly guard: EnginePorts['platformClass']['guard'];
  /** The SHA-256 of a text. It is a parameter because loading Node's implementation takes longer than everything else. */
  readonly digest: (text: string) => Digest;
}

/** @throws EngineError or file system errors if a file is missing or cannot be accessed. */
export function isCurrent(record: NoOpRecord, needs: NoOpConditions): boolean {
  const { environment, projectFolder } = needs;
  const path = environment.PATH ?? environment.Path;
  return (
    record.request === needs.request &&
    record.environment.every(([name, digest]) => {
      const value = environment[name];
      return (value === undefined ? null : needs.digest(labelVariable(value))) === digest;
    }) &&
    record.programs.every(([name, at]) => resolveTool(name, projectFolder, path) === at) &&
    (record.host === null || record.host === identifyHost()) &&
    (record.platform === null || record.platform === needs.guard()) &&
    areUnchanged(record.stamps, projectFolder)
  );
}
