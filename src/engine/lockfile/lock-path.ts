/** Where does a lock file stand? Beside its pipeline file. */

import { relative, resolve } from 'node:path';
import { withoutEnding } from '../config/pipeline-name.js';

export interface LockFile {
  /** Absolute. */
  readonly path: string;
  /** As messages call it: relative to where the user stands. */
  readonly name: string;
}

/** What part it takes in a build: written once everything is built and every gate is met; or the build is held to it, and never writes it. */
export interface LockOrder {
  readonly file: LockFile;
  readonly use: 'write' | 'frozen';
}

/** pipeline.yaml → pipeline.lock, pipelines/x.yaml → pipelines/x.lock. @param pipelineFile absolute, or relative to `cwd`. */
export function lockFileOf(pipelineFile: string, cwd: string): LockFile {
  const path = resolve(cwd, `${withoutEnding(pipelineFile)}.lock`);
  return { path, name: relative(cwd, path) };
}
