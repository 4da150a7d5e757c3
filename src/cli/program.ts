/** Declares all commands, arguments and options. The code of a command is loaded when it runs. */
import { Command } from 'commander';
import { BUILDS } from './declare/builds.js';
import { CACHE } from './declare/cache.js';
import { COCO } from './declare/coco.js';
import type { Declared } from './declare/command.js';
import { MODELS } from './declare/models.js';
import { ONNX } from './declare/onnx.js';
import { PROJECT } from './declare/project.js';
import { RECORDS } from './declare/records.js';
import { VIEWS } from './declare/views.js';
import type { ExitCode } from './process/exit-code.js';
import { VERSION } from './process/version.js';

/** In the order of the help text. */
const COMMANDS: readonly Declared[] = [...BUILDS, ...VIEWS, ...RECORDS, CACHE, ...MODELS, ONNX, COCO, ...PROJECT];

/** @param end receives the exit code of the command that ran. */
export function buildProgram(end: (exitCode: ExitCode) => void): Command {
  const program = new Command('tanren')
    .description(
      'Turns a trained CNN detector into a verified int8 deployment for an NPU. Runs only the stages of pipeline.yaml that are out of date.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // main.ts prints the error once
    .configureHelp({ sortSubcommands: false, minWidthToWrap: 20 })
    .addHelpText(
      'after',
      '\nExit codes: 0 success; 1 a stage failed or a gate was missed; 2 error in\narguments, pipeline file or lock file; 70 internal error; 129, 130 or 143\nstopped by a signal.',
    );
  for (const declare of COMMANDS) declare(program, end);
  return program;
}
