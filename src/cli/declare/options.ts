/** Arguments and options that several commands share, and the parsers of their values. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { ExitCode } from '../exit-code.js';

/** Declares commands on the program; `end` receives the exit code of the command that ran. */
export type Declare = (program: Command, end: (exitCode: ExitCode) => void) => void;

/** Collects the values of an option that can be repeated. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Adds the options that every command on a pipeline takes. */
export function onPipeline(command: Command): Command {
  return command
    .option('-f, --file <path>', 'pipeline file', 'pipeline.yaml')
    .option('-p, --param <name=value>', 'set a parameter of the pipeline, repeatable', collect, [])
    .option('--params-file <path>', 'a YAML map of parameters, repeatable; -p wins', collect, []);
}

export function asJson(command: Command): Command {
  return command.option('--json', 'one JSON document on stdout', false);
}

/** Adds the option of commands that read what builds of a pipeline recorded, and need no plan. */
export function onPipelineFile(command: Command): Command {
  return command.option('-f, --file <path>', 'pipeline file', 'pipeline.yaml');
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return count;
}

/** Adds the option of commands that look up results. */
export function withCache(command: Command): Command {
  return command.option('--cache <folder>', 'a cache that several checkouts share, used besides cache/; else TANREN_CACHE names it');
}

/** Turns `parse` into an option parser for commander. @param examples valid values, for the error message if `parse` returns undefined. */
export function parseWith(parse: (text: string) => number | undefined, examples: string): (text: string) => number {
  return text => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It is written as ${examples}.`);
    return value;
  };
}
