/** Declarations of commands as values: words, help texts, typed options, and the function to run. */
import type { Argument, Command } from 'commander';
import type { ExitCode } from '../process/exit-code.js';
import { attachAll, type OptionTable, type ValuesOf } from './option.js';

/** Adds a command to `parent`; `end` receives the exit code of the command that ran. */
export type Declared = (parent: Command, end: (exitCode: ExitCode) => void) => void;

interface CommandText {
  /** The name, and the arguments after it: "diff <before> <after>". */
  readonly words: string;
  readonly description: string;
  /** Replaces the usage line that follows from `words`. */
  readonly usage?: string;
  /** An argument with choices, which `words` cannot state. */
  readonly argument?: Argument;
  /** Printed after the options. */
  readonly after?: string;
}

interface CommandSpec<O extends OptionTable> extends CommandText {
  readonly options: O;
  readonly run: (words: readonly string[], options: ValuesOf<O>) => Promise<ExitCode>;
}

export function command<O extends OptionTable>({ options, run, ...text }: CommandSpec<O>): Declared {
  return (parent, end) => {
    const declared = parent.command(text.words).description(text.description);
    if (text.usage !== undefined) declared.usage(text.usage);
    if (text.argument !== undefined) declared.addArgument(text.argument);
    if (text.after !== undefined) declared.addHelpText('after', `\n${text.after}`);
    const read = attachAll(declared, options);
    declared.action(async () => end(await run(declared.args, read())));
  };
}

/** A command that consists of other commands. */
export function group(name: string, description: string, commands: readonly Declared[]): Declared {
  return (parent, end) => {
    const declared = parent.command(name).description(description);
    for (const declare of commands) declare(declared, end);
  };
}
