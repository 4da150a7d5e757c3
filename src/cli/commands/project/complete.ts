/**
 * Completes the last word of a command line for the shell scripts, which call it at every Tab.
 * It writes no files, loads no plugins of the project, and reports no errors.
 */
import type { Argument, Command, Option } from 'commander';
import { findNames } from '../../pipeline/pipeline-names.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';

interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Tells the shell to offer file names. */
const FILES: readonly Candidate[] = [{ word: ':files', about: '' }];

/** @param words the words after the program's name; the last one is incomplete and may be empty. */
export async function runComplete(program: Command, words: readonly string[]): Promise<ExitCode> {
  const candidates = await findCandidates(program, words).catch(() => []);
  for (const { word, about } of candidates) process.stdout.write(`${word}\t${about}\n`);
  return EXIT.built;
}

async function findCandidates(program: Command, words: readonly string[]): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const { command, values, awaits, file } = walk(program, before);
  const isMore = (candidate: Candidate): boolean => candidate.word.startsWith(current);
  if (awaits !== undefined) return valuesOf(awaits, file, isMore);
  const joined = /^(--[\w-]+)=/.exec(current);
  if (joined !== null) {
    const option = command.options.find(({ long }) => long === joined[1]);
    const prefix = joined[0];
    const found = option === undefined ? [] : await valuesOf(option, file, ({ word }) => `${prefix}${word}`.startsWith(current));
    return found[0]?.word === ':files' ? found : found.map(({ word, about }) => ({ word: prefix + word, about }));
  }
  if (current.startsWith('-')) return optionsOf(command).filter(isMore);
  if (command.commands.length > 0) return commandsOf(command).filter(isMore);
  const place = command.registeredArguments[values] ?? command.registeredArguments.findLast(argument => argument.variadic);
  return place === undefined ? [] : argumentsOf(command, place, file, isMore);
}

interface Walk {
  readonly command: Command;
  /** The number of arguments already given. */
  readonly values: number;
  /** The option whose value is the next word. */
  readonly awaits: Option | undefined;
  readonly file: string;
}

function walk(program: Command, words: readonly string[]): Walk {
  let at: Walk = { command: program, values: 0, awaits: undefined, file: 'pipeline.yaml' };
  for (const word of words) at = step(at, word);
  return at;
}

function step(at: Walk, word: string): Walk {
  const { command, awaits } = at;
  if (awaits !== undefined) return { ...at, awaits: undefined, file: awaits.long === '--file' ? word : at.file };
  if (word.startsWith('-')) {
    const option = command.options.find(({ long, short }) => word === long || word === short);
    const file = /^--file=(.+)$/.exec(word)?.[1] ?? at.file;
    return { ...at, file, awaits: option?.required === true ? option : undefined };
  }
  const sub = command.commands.find(one => one.name() === word);
  return sub === undefined ? { ...at, values: at.values + 1 } : { ...at, command: sub, values: 0 };
}

function commandsOf(command: Command): readonly Candidate[] {
  return command.commands.map(one => ({ word: one.name(), about: one.description() }));
}

function optionsOf(command: Command): readonly Candidate[] {
  const own = command.options.flatMap(({ long, description }) => (long == null ? [] : [{ word: long, about: description }]));
  return [...own, { word: '--help', about: 'display help for command' }];
}

async function valuesOf(
  { long, argChoices }: Option,
  file: string,
  isMore: (candidate: Candidate) => boolean,
): Promise<readonly Candidate[]> {
  if (argChoices !== undefined) return argChoices.map(word => ({ word, about: '' })).filter(isMore);
  if (long === '--param') return (await findNames(file)).params.map(name => ({ word: `${name}=`, about: 'parameter' })).filter(isMore);
  if (long === '--run') return (await findRuns(file)).filter(isMore);
  return long !== undefined && TAKES_FILE.has(long) ? FILES : [];
}

const TAKES_FILE: ReadonlySet<string> = new Set(['--file', '--params-file', '--cache', '--output', '--target']);

/** Completes an argument by the name under which it is declared. */
async function argumentsOf(
  command: Command,
  argument: Argument,
  file: string,
  isMore: (candidate: Candidate) => boolean,
): Promise<readonly Candidate[]> {
  if (argument.argChoices !== undefined) return argument.argChoices.map(word => ({ word, about: '' })).filter(isMore);
  const name = argument.name();
  if (name === 'targets' || name === 'stages') return (await targetsOf(file)).filter(isMore);
  if (name === 'run') return (await findRuns(file)).filter(isMore);
  if (name === 'what') return [...(await findRuns(file)), ...(await targetsOf(file))].filter(isMore);
  if (name === 'model-or-stage' || name === 'stages-then-images') {
    const stages = (await targetsOf(file)).filter(isMore);
    return stages.length > 0 ? stages : FILES;
  }
  return command.name() === 'quant' || name === 'tensor' ? [] : FILES;
}

async function targetsOf(file: string): Promise<readonly Candidate[]> {
  return (await findNames(file)).targets.map(({ name, plugin }) => ({ word: name, about: plugin }));
}

async function findRuns(file: string): Promise<readonly Candidate[]> {
  const { listRuns } = await import('../../pipeline/open-history.js');
  return [...listRuns(file)]
    .reverse()
    .map(({ run, started, conclusion }) => ({ word: run, about: `${started.slice(0, 19)}Z ${conclusion}` }));
}
