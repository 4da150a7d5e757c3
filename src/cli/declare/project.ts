/** Declares the commands that help to write pipeline files. */
import { Argument } from 'commander';
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

  program
    .command('completion')
    .description('print what makes a shell complete commands, options, targets and parameters')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      '\nSet up:\n  bash  tanren completion bash > ~/.local/share/bash-completion/completions/tanren\n  zsh   tanren completion zsh > "${fpath[1]}/_tanren"\n  fish  tanren completion fish > ~/.config/fish/completions/tanren.fish',
    )
    .action(async (shell: Parameters<typeof import('../commands/completion.js').runCompletion>[0]) =>
      end((await import('../commands/completion.js')).runCompletion(shell)),
    );

  asJson(program.command('plugins'))
    .description('list the plugins with their ports and parameters')
    .action(async (options: { readonly json: boolean }) => end(await (await import('../commands/plugins.js')).runPlugins(options)));
};
