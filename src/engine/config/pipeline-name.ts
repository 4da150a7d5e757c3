/** The name of a pipeline, which its file gives it: pipelines/x.yaml is "x". */
import { basename } from 'node:path';

const ENDING = /\.ya?ml$/;

export function pipelineNameOf(file: string): string {
  return withoutEnding(basename(file));
}

/** The path without .yaml or .yml. */
export function withoutEnding(path: string): string {
  return path.replace(ENDING, '');
}

export function hasPipelineEnding(file: string): boolean {
  return ENDING.test(file);
}
