/** Pipeline names, which come from the file name: pipelines/x.yaml is "x". */
import { basename } from 'node:path';

export const PIPELINE_ENDINGS = ['.yaml', '.yml'] as const;

const ENDING = /\.ya?ml$/;

export function pipelineNameOf(file: string): string {
  return withoutEnding(basename(file));
}

/** Returns the path without .yaml or .yml. */
export function withoutEnding(path: string): string {
  return path.replace(ENDING, '');
}

export function hasPipelineEnding(file: string): boolean {
  return ENDING.test(file);
}
