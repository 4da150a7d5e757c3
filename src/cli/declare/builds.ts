/** Declares the commands that build stages or remove what was built. */
import { Option } from 'commander';
import { asJson, type Declare, onPipeline, parseCount, withCache } from './options.js';

export const declareBuilds: Declare = (program, end) => {
  withCache(asJson(onPipeline(program.command('build [targets...]'))))
    .description('build the targets (stages or groups; all where none is named) and what they depend on')
    .option('-j, --jobs <n>', 'stages at once', parseCount)
    .option('-k, --keep-going', 'go on with what does not depend on a failed stage', false)
    .option('-n, --dry-run', 'say what would run, and why; write nothing', false)
    .option('--frozen', 'build what pipeline.lock says, or say what differs; never write the lock', false)
    .option('--force', 'run the targets even where their result is known', false)
    .option('--rehash', 'read every source, program, module and artifact again, whatever their times and sizes say', false)
    .addOption(
      new Option('--check', 'run the targets once more, and compare the bytes with their results').default(false).conflicts('dryRun'),
    )
    .addOption(
      new Option('--sandbox', 'run stages where they see what they declare and nothing else (Linux)').default(false).conflicts('dryRun'),
    )
    .addOption(new Option('--strict', 'fail stages that read or write what they do not declare (Linux)').default(false).conflicts('dryRun'))
    .addHelpText(
      'after',
      '\nExamples:\n  tanren build\n  tanren build quantize -p preset=a8w8\n  tanren build evaluate-int8 --jobs 4 --keep-going\n  tanren build --frozen',
    )
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/build.js').runBuild>[1]) =>
      end(await (await import('../commands/build.js')).runBuild(targets, options)),
    );

  withCache(onPipeline(program.command('watch [targets...]')))
    .description('build, and build again whenever a file that matters is saved')
    .option('-j, --jobs <n>', 'stages at once', parseCount)
    .option('-k, --keep-going', 'go on with what does not depend on a failed stage', false)
    .option('--poll', 'look every second instead of waiting for events: for network file systems', false)
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/watch.js').runWatch>[1]) =>
      end(await (await import('../commands/watch.js')).runWatch(targets, options)),
    );

  onPipeline(program.command('clean [targets...]'))
    .description('remove artifacts; with --all also everything in cache/')
    .option('--all', 'the cache too: the next build runs every stage', false)
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/clean.js').runClean>[1]) =>
      end(await (await import('../commands/clean.js')).runClean(targets, options)),
    );
};
