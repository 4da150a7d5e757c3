/** Which commands help to write pipeline files? */
import { asJson, type Declare } from './options.js';

export const declareProject: Declare = (program, end) => {
  program
    .command('init')
    .description('write a pipeline file to start from')
    .option('-f, --file <path>', 'where', 'pipeline.yaml')
    .action(async (options: { readonly file: string }) => end(await (await import('../commands/init.js')).runInit(options)));

  program
    .command('schema')
    .description('print the JSON Schema of pipeline files')
    .action(async () => end(await (await import('../commands/schema.js')).runSchema()));

  asJson(program.command('plugins'))
    .description('list the plugins with their ports and parameters')
    .action(async (options: { readonly json: boolean }) => end(await (await import('../commands/plugins.js')).runPlugins(options)));
};
