/**
 * Reports an end of the process before the work is done. A plugin's declaration runs in this process;
 * it may call process.exit or await a promise that never settles.
 */
import type { BuildEvent } from '../../engine/model/events.js';
import { EXIT } from './exit-code.js';
import { isForced } from './interruption.js';

let hasForeignCode = false;

/** Notes that third-party plugin code was loaded. From now on an early exit is a usage error, not an internal error. */
export function noteForeignCode(): void {
  hasForeignCode = true;
}

/** The stages of the running build that have not ended. */
const waiting = new Set<string>();

/** Follows a build, so that the report of an early exit can name the stages that had not ended. */
export function followStages(event: BuildEvent): void {
  if (event.kind === 'outlook') {
    waiting.clear();
    for (const { stage } of event.outlook.tasks) waiting.add(stage);
  } else if (event.kind === 'outcome') waiting.delete(event.stage);
}

/** From now on an end of the process is reported, and its exit code is not 0. @returns a function to call when the work is done. */
export function watchForEarlyExit(): () => void {
  let crashed = false;
  const crash = (): void => {
    crashed = true;
  };
  const say = (): void => {
    if (isForced()) return;
    process.exitCode = hasForeignCode ? EXIT.usage : EXIT.internal;
    // Node has already printed the error with its stack.
    if (crashed) return;
    const what = waiting.size === 0 ? 'the work was done' : `these stages had ended: ${nameSome([...waiting])}`;
    process.stderr.write(`error[ended-early]: the process ended before ${what}\n  help: ${helpWithExit()}\n`);
  };
  process.on('uncaughtExceptionMonitor', crash);
  process.on('exit', say);
  return () => {
    process.off('exit', say);
    process.off('uncaughtExceptionMonitor', crash);
  };
}

const MOST_NAMES = 8;

function nameSome(stages: readonly string[]): string {
  const more = stages.length - MOST_NAMES;
  return `${stages.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function helpWithExit(): string {
  const defect = 'report it, with the command and the pipeline file; stages that had ended are not run again';
  if (!hasForeignCode) return `this is a defect of Tanren: ${defect}`;
  const plugin =
    "a plugin's module calls process.exit(), or awaits a promise that never settles, outside its `run`: remove it under `plugins` and try again";
  return waiting.size === 0 ? `most likely ${plugin}` : `${plugin}. Without such a plugin it is a defect of Tanren: ${defect}`;
}
