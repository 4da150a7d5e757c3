/** Which arguments and options do several commands share, and how are their values read? */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { ExitCode } from '../exit-code.js';

/** Declares commands on the program; `end` takes the exit code of the one that was run. */
export type Declare = (program: Command, end: (exitCode: ExitCode) => void) => void;

/** For options that may stand several times. */
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

/** For commands that look at what a pipeline has left behind, and need no plan. */
export function onPipelineFile(command: Command): Command {
  return command.option('-f, --file <path>', 'pipeline file', 'pipeline.yaml');
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return count;
}

/** Adds the option of commands that look for results. */
export function withCache(command: Command): Command {
  return command.option('--cache <folder>', 'a cache that several checkouts share, used besides cache/; else TANREN_CACHE names it');
}

/** A parser for commander of what `parse` understands. @param examples for the message of what it does not. */
export function parseWith(parse: (text: string) => number | undefined, examples: string): (text: string) => number {
  return text => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`It is written as ${examples}.`);
    return value;
  };
}
