/** The project folder: relative sources start there, and it holds artifacts/ and cache/. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns the pipeline file's folder. For a file in pipelines/ it returns the parent folder if that is a project. */
export function findProjectFolder(pipelineFile: string): string {
  const own = dirname(pipelineFile);
  if (basename(own) !== 'pipelines') return own;
  const parent = dirname(own);
  return existsSync(join(parent, 'pipeline.yaml')) || existsSync(join(parent, 'package.json')) ? parent : own;
}
