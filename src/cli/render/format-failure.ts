/** Formats a failed stage: its code and message, its causes, the next step, and the path of its log. */
import type { Failure } from '../../engine/model/failure.js';
import type { StageId } from '../../engine/model/plan.js';
import type { Console } from '../terminal/console.js';

export function formatFailure(stage: StageId, failure: Failure, { style }: Pick<Console, 'style'>): string[] {
  const [head = '', ...rest] = `error[${failure.code}]: ${stage}: ${failure.message}`.trimEnd().split('\n');
  return [
    style('red', head),
    ...rest.map(line => `  ${line}`.trimEnd()),
    // Most error messages include the message of their cause.
    ...failure.causes.filter(cause => !failure.message.includes(cause)).map(cause => `  caused by: ${cause}`),
    ...(failure.help === undefined ? [] : [`  help: ${failure.help}`]),
    ...(failure.stack === undefined
      ? []
      : failure.stack
          .split('\n')
          .filter(line => /^\s+at /.test(line))
          .map(line => `  ${line.trim()}`)),
    ...(failure.logPath === undefined
      ? []
      : [`  log: ${failure.logPath}${failure.logPath.includes('/pipeline/') ? ` (tanren log ${stage})` : ''}`]),
  ];
}
