/** Checks of a description that its schema cannot express. */
import type { ToolDescription } from './params.js';

/** Problems of patterns, groups and programs. */
export function checkDescription({ version, run, modelName, findings, figures, env }: ToolDescription): readonly string[] {
  return [
    ...checkPattern('describe.version.pattern', version.pattern, 'version'),
    ...findings.flatMap(({ pattern, continued }, index) => [
      ...checkPattern(`describe.findings[${index}].pattern`, pattern),
      ...(continued === undefined ? [] : checkPattern(`describe.findings[${index}].continued`, continued)),
    ]),
    ...Object.entries(figures).flatMap(([name, pattern]) => checkPattern(`describe.figures.${name}`, pattern, 'value')),
    ...Object.keys(figures)
      .filter(name => /^findings(?:\.|$)/.test(name))
      .map(name => `describe.figures.${name} has the name of a metric of this stage: findings.{error, refused, warning, note}`),
    ...(['.', '..', 'output'].includes(modelName) ? [`describe.modelName cannot be "${modelName}"`] : []),
    ...(run.some(part => part.includes('{model}')) ? [] : ['describe.run names no {model}']),
    ...(run.some(part => part.includes('{output}')) ? [] : ['describe.run names no {output}']),
    ...[version.run, run]
      .filter(([program = '']) => program === '' || program.includes('{'))
      .map(() => 'the program of describe.run and describe.version.run is a name on the PATH or a path'),
    ...[...version.run, ...run, ...Object.values(env)]
      .filter(text => text.includes('\0'))
      .map(() => 'arguments and variables cannot contain NUL characters'),
  ];
}

function checkPattern(where: string, pattern: string, group?: string): readonly string[] {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    return [`${where} is no regular expression: ${error instanceof Error ? error.message : String(error)}`];
  }
  return group === undefined || pattern.includes(`(?<${group}>`) ? [] : [`${where} has no group (?<${group}>…)`];
}
