/** Declares all commands, arguments and options. The code of a command is loaded when it runs. */
import { Command } from 'commander';
import { declareBuilds } from './declare/builds.js';
import { declareCache } from './declare/cache.js';
import { declareCoco } from './declare/coco.js';
import { declareModels } from './declare/models.js';
import { declareOnnx } from './declare/onnx.js';
import { declareProject } from './declare/project.js';
import { declareRecords } from './declare/records.js';
import { declareViews } from './declare/views.js';
import type { ExitCode } from './exit-code.js';
import { VERSION } from './version.js';

/** In the order of the help text. */
const FAMILIES = [declareBuilds, declareViews, declareRecords, declareCache, declareModels, declareOnnx, declareCoco, declareProject];

/** @param end receives the exit code of the command that ran. */
export function buildProgram(end: (exitCode: ExitCode) => void): Command {
  const program = new Command('tanren')
    .description(
      'Takes a trained CNN detector to a verified, NPU-ready int8 deployment: does exactly the missing part of what pipeline.yaml describes.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // main.ts prints the error once
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      '\nExit codes: 0 built, 1 a stage failed or a gate was missed, 2 usage, pipeline file or lock, 70 internal error, 129, 130 or 143 interrupted by a signal.',
    );
  for (const declare of FAMILIES) declare(program, end);
  return program;
}
