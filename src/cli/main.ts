/** What did the user ask for? Arguments in, exit code out; each command's code is loaded when it is run. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseSize } from '../engine/config/scalars.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { makeConsole } from './render/console.js';
import { formatUsageError } from './usage-error.js';
import { VERSION } from './version.js';

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function parseJobs(text: string): number {
  const jobs = Number(text);
  if (!Number.isInteger(jobs) || jobs < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return jobs;
}

function parseWith(parse: (text: string) => number | undefined, examples: string): (text: string) => number {
  return text => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It is written as ${examples}.`);
    return value;
  };
}

function collectPins(text: string, before: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const match = /^([^=]+)=([1-9]\d{0,8})$/.exec(text);
  if (match === null) throw new InvalidArgumentError('It is such as box_rois=16.');
  return { ...before, [match[1] ?? '']: Number(match[2]) };
}

/** Adds the options that every command on a pipeline takes. */
function onPipeline(command: Command): Command {
  return command
    .option('-f, --file <path>', 'pipeline file', 'pipeline.yaml')
    .option('-p, --param <name=value>', 'set a parameter of the pipeline, repeatable', collect, [])
    .option('--params-file <path>', 'a YAML map of parameters, repeatable; -p wins', collect, []);
}

function asJson(command: Command): Command {
  return command.option('--json', 'one JSON document on stdout', false);
}

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
      '\nExit codes: 0 built, 1 a stage failed or a gate was missed, 2 usage or pipeline file, 70 internal error, 130 interrupted.',
    );
  const run = <Options>(action: (targets: readonly string[], options: Options) => Promise<ExitCode>) => {
    return async (targets: readonly string[], options: Options): Promise<void> => {
      exitCode = await action(targets, options);
    };
  };

  asJson(onPipeline(program.command('build [targets...]')))
    .description('build the targets (stages or groups; all where none is named) and what they depend on')
    .option('-j, --jobs <n>', 'stages at once', parseJobs)
    .option('-k, --keep-going', 'go on with what does not depend on a failed stage', false)
    .option('-n, --dry-run', 'say what would run, and why; write nothing', false)
    .option('--force', 'run the targets even where their result is known', false)
    .addHelpText(
      'after',
      '\nExamples:\n  tanren build\n  tanren build quantize -p preset=a8w8\n  tanren build evaluate-int8 --jobs 4 --keep-going',
    )
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/build.js').runBuild>[1]) =>
        (await import('./commands/build.js')).runBuild(targets, options),
      ),
    );

  onPipeline(program.command('watch [targets...]'))
    .description('build, and build again whenever a file that matters is saved')
    .option('-j, --jobs <n>', 'stages at once', parseJobs)
    .option('-k, --keep-going', 'go on with what does not depend on a failed stage', false)
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/watch.js').runWatch>[1]) =>
        (await import('./commands/watch.js')).runWatch(targets, options),
      ),
    );

  asJson(onPipeline(program.command('status [targets...]')))
    .description('say which stages are up to date, and why others are not; writes nothing')
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/status.js').runStatus>[1]) =>
        (await import('./commands/status.js')).runStatus(targets, options),
      ),
    );

  asJson(onPipeline(program.command('explain <stages...>')))
    .description('say what changed since a stage last ran')
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/explain.js').runExplain>[1]) =>
        (await import('./commands/explain.js')).runExplain(targets, options),
      ),
    );

  asJson(onPipeline(program.command('graph [targets...]')))
    .description('show the graph of stages')
    .addOption(new Option('--format <format>', 'how').choices(['text', 'mermaid', 'dot']).default('text'))
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/graph.js').runGraph>[1]) =>
        (await import('./commands/graph.js')).runGraph(targets, options),
      ),
    );

  onPipeline(program.command('log <stages...>'))
    .description("show the log of a stage's last run")
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/log.js').runLog>[1]) =>
        (await import('./commands/log.js')).runLog(targets, options),
      ),
    );

  onPipeline(program.command('clean [targets...]'))
    .description('remove artifacts; with --all also everything in cache/')
    .option('--all', 'the cache too: the next build runs every stage', false)
    .action(
      run(async (targets, options: Parameters<typeof import('./commands/clean.js').runClean>[1]) =>
        (await import('./commands/clean.js')).runClean(targets, options),
      ),
    );

  const cache = program.command('cache').description('look at what cache/ holds, check it, make it smaller');
  const onCache = (name: string): Command =>
    asJson(cache.command(name)).option('-f, --file <path>', 'pipeline file of the project', 'pipeline.yaml');

  onCache('stats')
    .description('what the cache holds, by plugin')
    .action(async (options: Parameters<typeof import('./commands/cache.js').runCacheStats>[0]) => {
      exitCode = await (await import('./commands/cache.js')).runCacheStats(options);
    });

  onCache('gc')
    .description('remove what belongs to no result, and beyond the limits the results that were used longest ago')
    .option(
      '--max-size <size>',
      'such as 2GB: results go, oldest use first, until the cache is not larger',
      parseWith(parseSize, '500MB or 2GB'),
    )
    .option('--max-age <time>', 'such as 30d: results that no build has used for longer go', parseWith(parseDuration, '12h or 30d'))
    .option('-n, --dry-run', 'say what would go; remove nothing', false)
    .action(async (options: Parameters<typeof import('./commands/cache.js').runCacheGc>[0]) => {
      exitCode = await (await import('./commands/cache.js')).runCacheGc(options);
    });

  onCache('verify')
    .description('read every byte, and remove what is damaged')
    .action(async (options: Parameters<typeof import('./commands/cache.js').runCacheVerify>[0]) => {
      exitCode = await (await import('./commands/cache.js')).runCacheVerify(options);
    });

  const quant = program.command('quant').description('look at how a model was quantized');
  asJson(onPipeline(quant.command('explain <model-or-stage> <tensor>')))
    .description('say how one tensor was quantized, why so, and what it costs; of a QDQ model (.onnx) what the file says')
    .addHelpText(
      'after',
      '\nExamples:\n  tanren quant explain quantize@backbone feature_0\n  tanren quant explain artifacts/quantize@box_head/model.onnx class_logits',
    )
    .action(async (where: string, tensor: string, options: Parameters<typeof import('./commands/quant-explain.js').runQuantExplain>[2]) => {
      exitCode = await (await import('./commands/quant-explain.js')).runQuantExplain(where, tensor, options);
    });

  asJson(program.command('lint <model>'))
    .description('say which nodes of a model an NPU would not run, and why; exit code 1 where there are any')
    .requiredOption('-t, --target <name>', 'ryzen-ai, generic-int8, or the path of a profile (.json)')
    .option('--device <name>', "one of the profile's devices")
    .option('--dtype <name>', "one of the profile's data types")
    .option('--software <version>', "version of the vendor's software")
    .addOption(new Option('--undocumented <where>', 'where nodes go that no document names').choices(['cpu', 'npu']).default('cpu'))
    .option('--pin <name=size>', 'a number for a named size of an input, repeatable', collectPins, {})
    .option('--all', 'list every node', false)
    .addHelpText(
      'after',
      '\nExample:\n  tanren lint artifacts/quantize@backbone/model.onnx --target ryzen-ai --device stx-krk --dtype xint8',
    )
    .action(async (model: string, options: Parameters<typeof import('./commands/lint.js').runLint>[1]) => {
      exitCode = await (await import('./commands/lint.js')).runLint(model, options);
    });

  program
    .command('init')
    .description('write a pipeline file to start from')
    .option('-f, --file <path>', 'where', 'pipeline.yaml')
    .action(async (options: { readonly file: string }) => {
      exitCode = await (await import('./commands/init.js')).runInit(options);
    });

  program
    .command('schema')
    .description('print the JSON Schema of pipeline files')
    .action(async () => {
      exitCode = await (await import('./commands/schema.js')).runSchema();
    });

  asJson(program.command('plugins'))
    .description('list the plugins with their ports and parameters')
    .action(async (options: { readonly json: boolean }) => {
      exitCode = await (await import('./commands/plugins.js')).runPlugins(options);
    });

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.built;
      if (error.code !== 'commander.help') makeConsole({ json: false }).problem('error', formatUsageError(error));
      return EXIT.usage;
    }
    process.stderr.write(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.internal;
  }
}
