/** The `tanren build` command line that builds given stages with the pipeline file and parameters of the current command. */
import type { PipelineOptions } from './open-plan.js';

const USUAL_FILE = 'pipeline.yaml';

export function buildCommand(
  { file, param, paramsFile }: Pick<PipelineOptions, 'file' | 'param' | 'paramsFile'>,
  stages: readonly string[],
): string {
  const words = [
    'tanren',
    'build',
    ...stages,
    ...(file === USUAL_FILE ? [] : ['-f', file]),
    ...paramsFile.flatMap(path => ['--params-file', path]),
    ...param.flatMap(assignment => ['-p', assignment]),
  ];
  return words.map(quote).join(' ');
}

/** Quotes a word for the shell, so that the shell reads it as one word. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
