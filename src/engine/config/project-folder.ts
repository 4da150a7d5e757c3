/** Where do relative sources start, and where do artifacts/ and cache/ stand? */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The pipeline file's folder; for a file in pipelines/, the folder above where that is a project. */
export function findProjectFolder(pipelineFile: string): string {
  const own = dirname(pipelineFile);
  if (basename(own) !== 'pipelines') return own;
  const parent = dirname(own);
  return existsSync(join(parent, 'pipeline.yaml')) || existsSync(join(parent, 'package.json')) ? parent : own;
}
