/** What rounds about lent slots do beside a build: to part processes, to workers, to code and inputs, and by other commands. */
import { pick } from '../attacks/exchanges.js';
import type { CliProcess } from '../cli-world.js';
import { findProcesses, type RunningProcess, signalProcess } from './processes.js';
import { MISCHIEF, MISCHIEFS, type SpreadProject } from './spread-project.js';

export interface Arena {
  readonly project: SpreadProject;
  readonly random: () => number;
  /** Commands that were started, each with what it is. */
  readonly running: { readonly what: string; readonly process: CliProcess }[];
}

type Attack = (arena: Arena) => void;

const WORDS = ['iron', 'steel', 'fire', 'water', 'coal', 'sand'];
const HOW = ['in place', 'by rename'] as const;

export const EDITS: Readonly<Record<string, Attack>> = {
  'an input is edited': arena => edit(arena, pick(arena.random, ['left', 'right'] as const)),
  "the parts' module is edited": arena => edit(arena, 'part'),
  "a module that the parts' module imports is edited": arena => edit(arena, 'helper'),
  'the pipeline file is edited': arena => edit(arena, 'tone'),
  "the parts' module is edited, and put back": ({ project, random }) => {
    const before = project.contents.part;
    project.contents.part = 'for a moment';
    project.put('part', pick(random, HOW));
    project.contents.part = before;
    project.put('part', pick(random, HOW));
  },
};

const TO_PROCESSES: Readonly<Record<string, Attack>> = {
  'a part process gets a signal': arena => {
    const found = partProcesses(arena);
    if (found.length > 0)
      signalProcess(pick(arena.random, found).pid, pick(arena.random, ['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGHUP', 'SIGINT']));
  },
  'all part processes are killed': arena => {
    for (const { pid } of partProcesses(arena)) signalProcess(pid, 'SIGKILL');
  },
  'a part process pauses': arena => pause(arena, partProcesses(arena)),
  'a worker pauses': arena => pause(arena, workers(arena)),
  'a worker is killed': arena => {
    const found = workers(arena);
    if (found.length > 0) signalProcess(pick(arena.random, found).pid, 'SIGKILL');
  },
  'a part process misbehaves': ({ project, random }) => project.write(`${MISCHIEF}/${pick(random, MISCHIEFS)}`, ''),
  'several part processes misbehave': ({ project, random }) => {
    for (let i = 0; i < 3; i++) project.write(`${MISCHIEF}/${pick(random, MISCHIEFS)}`, '');
  },
};

const BY_COMMANDS: Readonly<Record<string, Attack>> = {
  'another build': arena => start(arena, ['build', '--jobs', `${1 + Math.floor(arena.random() * 8)}`]),
  'another build that keeps going': arena => start(arena, ['build', '-k', pick(arena.random, ['many', 'more', 'join']), '--jobs', '3']),
  'a build with another parameter': arena => start(arena, ['build', '-p', `tone=${pick(arena.random, WORDS)}`, '--jobs', '4']),
  'a build that runs a stage again': arena => start(arena, ['build', '--force', pick(arena.random, ['many', 'more']), '--jobs', '3']),
  'a build that checks': arena => start(arena, ['build', '--check', 'more', '--jobs', '3']),
  'a collection': arena =>
    start(arena, ['cache', 'gc', ...(arena.random() < 0.5 ? [] : ['--max-size', pick(arena.random, ['0B', '3KB', '20KB'])])]),
  'a verification': arena => start(arena, ['cache', 'verify']),
  'a look': arena => start(arena, pick(arena.random, [['status'], ['profile'], ['log', 'many'], ['cache', 'stats']])),
  'a clean': arena => start(arena, ['clean', pick(arena.random, ['many', 'more', 'first'])]),
  'a command gets a signal': ({ running, random }) => {
    if (running.length > 0) pick(random, running).process.signal(pick(random, ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']));
  },
};

/** What happens to processes is as frequent as all else together. */
export const BESIDE: Readonly<Record<string, Attack>> = {
  ...EDITS,
  ...BY_COMMANDS,
  ...Object.fromEntries([1, 2, 3].flatMap(time => Object.entries(TO_PROCESSES).map(([name, attack]) => [name + ' '.repeat(time), attack]))),
};

function edit({ project, random }: Arena, what: keyof SpreadProject['contents']): void {
  // Mostly new, so that there are parts to compute; sometimes one of before.
  project.contents[what] = `${pick(random, WORDS)}${random() < 0.2 ? '' : Math.floor(random() * 1e6)}`;
  project.put(what, pick(random, HOW));
}

function partProcesses({ project }: Arena): readonly RunningProcess[] {
  return findProcesses(project.folder).filter(({ kind }) => kind === 'part process');
}

function workers({ project }: Arena): readonly RunningProcess[] {
  return findProcesses(project.folder).filter(({ kind }) => kind === 'worker');
}

function pause({ random }: Arena, found: readonly RunningProcess[]): void {
  if (found.length === 0) return;
  const { pid } = pick(random, found);
  signalProcess(pid, 'SIGSTOP');
  setTimeout(() => signalProcess(pid, 'SIGCONT'), random() * 1500);
}

function start({ project, running }: Arena, args: readonly string[]): void {
  running.push({ what: args.join(' '), process: project.start(...args) });
}
