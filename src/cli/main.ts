/** What did the user ask for? Arguments in, exit code out; each command's code is loaded when it is run. */
import { Command, CommanderError } from 'commander';
import { declareBuilds } from './declare/builds.js';
import { declareCache } from './declare/cache.js';
import { declareModels } from './declare/models.js';
import { declareOnnx } from './declare/onnx.js';
import { declareProject } from './declare/project.js';
import { declareRecords } from './declare/records.js';
import { declareViews } from './declare/views.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { makeConsole } from './render/console.js';
import { formatUsageError } from './usage-error.js';
import { VERSION } from './version.js';

/** In the order of the help. */
const FAMILIES = [declareBuilds, declareViews, declareRecords, declareCache, declareModels, declareOnnx, declareProject];

export async function main(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.built;
  const program = new Command('tanren')
    .description(
      'Takes a trained CNN detector to a verified, NPU-ready int8 deployment: does exactly the missing part of what pipeline.yaml describes.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: () => undefined }) // said once, below
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      '\nExit codes: 0 built, 1 a stage failed or a gate was missed, 2 usage or pipeline file, 70 internal error, 129, 130 or 143 interrupted by a signal.',
    );
  for (const declare of FAMILIES) {
    declare(program, code => {
      exitCode = code;
    });
  }

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.built;
      if (error.code !== 'commander.help') makeConsole({ json: false }).problem('error', formatUsageError(error));
      return EXIT.usage;
    }
    if (isHomeless(error)) {
      process.stderr.write('error[no-folder]: the folder that this was started in does not exist any more\n  help: go to another one\n');
      return EXIT.usage;
    }
    process.stderr.write(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.internal;
  }
}

function isHomeless(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}
