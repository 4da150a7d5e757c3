/** With which words is something built that a command lacks? The pipeline and parameters are those of the command. */
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

/** As a shell takes it for one word. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
