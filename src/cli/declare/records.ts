/** Which commands look at what builds have left: runs, figures, times? */
import { asJson, type Declare, onPipelineFile, parseCount } from './options.js';

export const declareRecords: Declare = (program, end) => {
  asJson(onPipelineFile(program.command('history [stages...]')))
    .description('list the builds that did something; of stages, their outcomes, durations and figures')
    .option('-n, --last <n>', 'so many, the newest', parseCount, 20)
    .action(async (stages: readonly string[], options: Parameters<typeof import('../commands/history.js').runHistory>[1]) =>
      end(await (await import('../commands/history.js')).runHistory(stages, options)),
    );
};
