/** Declares the commands that show records of builds: runs, figures and times. */
import { asJson, type Declare, onPipeline, onPipelineFile, parseCount } from './options.js';

export const declareRecords: Declare = (program, end) => {
  asJson(onPipelineFile(program.command('history [stages...]')))
    .description('list the builds that did something; of stages, their outcomes, durations and figures')
    .option('-n, --last <n>', 'so many, the newest', parseCount, 20)
    .action(async (stages: readonly string[], options: Parameters<typeof import('../commands/history.js').runHistory>[1]) =>
      end(await (await import('../commands/history.js')).runHistory(stages, options)),
    );

  asJson(onPipeline(program.command('metrics [targets...]')))
    .description('show the figures of the results that stand now, and whether gates hold')
    .option('--save <name>', 'keep them in baselines/NAME.json, for tanren diff NAME')
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/metrics.js').runMetrics>[1]) =>
      end(await (await import('../commands/metrics.js')).runMetrics(targets, options)),
    );

  asJson(onPipeline(program.command('diff [what...]')))
    .description('compare params, figures and gates with a run, a baseline or a revision of git; then stages, all where none is named')
    .option('--all', 'what did not change too', false)
    .addHelpText(
      'after',
      '\nExamples:\n  tanren diff                    with the run before\n  tanren diff r41 evaluate       with run 41; of these stages\n  tanren diff main               with a branch, tag or commit\n  tanren diff float              with baselines/float.json\n  tanren diff r41..r43           two runs',
    )
    .action(async (what: readonly string[], options: Parameters<typeof import('../commands/diff.js').runDiff>[1]) =>
      end(await (await import('../commands/diff.js')).runDiff(what, options)),
    );

  asJson(onPipelineFile(program.command('profile [run]')))
    .description('say where the time of a run went: critical path, slowest stages, waiting; the last run where none is named')
    .option('-o, --output <path>', 'write the timeline in the Trace Event Format, for Perfetto (ui.perfetto.dev) or chrome://tracing')
    .action(async (run: string | undefined, options: Parameters<typeof import('../commands/profile.js').runProfile>[1]) =>
      end(await (await import('../commands/profile.js')).runProfile(run ?? 'last', options)),
    );
};
