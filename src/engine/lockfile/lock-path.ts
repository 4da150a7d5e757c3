/** The path of a lock file: beside its pipeline file. */

import { relative, resolve } from 'node:path';
import { withoutEnding } from '../config/pipeline-name.js';

export interface LockFile {
  /** Absolute. */
  readonly path: string;
  /** The name in messages: relative to the working directory of the user. */
  readonly name: string;
}

/**
 * The role of the lock file in a build. 'write': it is written once everything is built and every gate is met. 'frozen': the build must
 * match it and never writes it.
 */
export interface LockOrder {
  readonly file: LockFile;
  readonly use: 'write' | 'frozen';
}

/** pipeline.yaml → pipeline.lock, pipelines/x.yaml → pipelines/x.lock. @param pipelineFile absolute, or relative to `cwd`. */
export function lockFileOf(pipelineFile: string, cwd: string): LockFile {
  const path = resolve(cwd, `${withoutEnding(pipelineFile)}.lock`);
  return { path, name: relative(cwd, path) };
}
