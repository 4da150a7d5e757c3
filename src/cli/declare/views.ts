/** Declares the commands that show a pipeline and its stages, and change nothing. */
import { Option } from 'commander';
import { asJson, type Declare, onPipeline, withCache } from './options.js';

export const declareViews: Declare = (program, end) => {
  withCache(asJson(onPipeline(program.command('status [targets...]'))))
    .description('say which stages are up to date, and why others are not; writes nothing')
    .option('--why', 'by what changed: the root first, and under it the stages that it reaches', false)
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/status.js').runStatus>[1]) =>
      end(await (await import('../commands/status.js')).runStatus(targets, options)),
    );

  withCache(asJson(onPipeline(program.command('explain <stages...>'))))
    .description('say what changed since a stage last ran, down to the parameter or file, and which way it took')
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/explain.js').runExplain>[1]) =>
      end(await (await import('../commands/explain.js')).runExplain(targets, options)),
    );

  asJson(onPipeline(program.command('graph [targets...]')))
    .description('show the graph of stages')
    .addOption(new Option('--format <format>', 'how').choices(['text', 'mermaid', 'dot']).default('text'))
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/graph.js').runGraph>[1]) =>
      end(await (await import('../commands/graph.js')).runGraph(targets, options)),
    );

  onPipeline(program.command('log <stages...>'))
    .description("show the log of a stage's last run, or of the run that made its restored result")
    .option('--run <run>', 'of the result that it had after a run of the history: r41, last, last~1')
    .action(async (targets: readonly string[], options: Parameters<typeof import('../commands/log.js').runLog>[1]) =>
      end(await (await import('../commands/log.js')).runLog(targets, options)),
    );
};
