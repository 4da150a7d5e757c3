/** What command rounds do to a project: files of the cache put back, exchanged and linked, inputs edited, and processes started beside a build. */
import { lstatSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXCHANGES, type Place, pick } from '../attacks/exchanges.js';
import type { CliProcess } from '../cli-world.js';
import { DIST } from '../world.js';
import { type AttackedProject, SPEAKERS } from './attacked-project.js';

export interface Arena extends Place {
  readonly project: AttackedProject;
  /** Processes that were started beside a build; each with what it is. */
  readonly running: { readonly what: string; readonly process: CliProcess }[];
}

type Attack = (arena: Arena) => void;

const WORDS = ['iron', 'steel', 'fire', 'water', 'é', ''];
const TEXTS = ['iron\n', 'iron\nsteel\n', 'fire\n\nwater\n', '', 'no newline', 'a\nb\nc\nd\n'];

/** Edits of inputs, code and programs. The model of the project changes with them. */
const EDITS: Readonly<Record<string, Attack>> = {
  'a source is edited': ({ project, random }) => {
    const which = pick(random, ['left', 'right'] as const);
    project.contents[which] = pick(random, TEXTS);
    project.put(which, pick(random, ['in place', 'by rename']));
  },
  'code or a program is edited': ({ project, random }) => {
    const which = pick(random, SPEAKERS);
    project.contents.says[which] = pick(random, WORDS);
    project.put(which, pick(random, ['in place', 'by rename']));
  },
  'the pipeline file is edited': ({ project, random }) => {
    project.contents.tone = pick(random, ['loud', 'soft', 'flat']);
    project.put('pipeline', pick(random, ['in place', 'by rename']));
  },
  'a file comes into a source folder, or goes': ({ project, random }) => {
    const { parts } = project.contents;
    const name = pick(random, ['1', '2', '3']);
    if (parts.size > 1 && parts.has(name) && random() < 0.5) {
      parts.delete(name);
      rmSync(join(project.folder, 'parts', name));
      return;
    }
    parts.set(name, pick(random, TEXTS));
    project.write(`parts/${name}`, parts.get(name) ?? '');
  },
  'a source becomes a link, or a file again': ({ project, random }) => {
    const path = join(project.folder, 'left.txt');
    if (lstatSync(path).isSymbolicLink()) return project.put('left');
    project.contents.left = pick(random, TEXTS);
    project.write('elsewhere.txt', project.contents.left);
    rmSync(path);
    symlinkSync('elsewhere.txt', path);
  },
  'a module becomes a link': ({ project }) => {
    const path = join(project.folder, 'plugins/helper.mjs');
    if (lstatSync(path).isSymbolicLink()) return project.put('helper');
    renameSync(path, join(project.folder, 'plugins/real.mjs'));
    symlinkSync('real.mjs', path);
  },
  'all times are set to one moment': ({ project, random }) => {
    const moment = pick(random, [0, 1_000_000_000, 4_000_000_000]);
    for (const name of ['left.txt', 'right.txt', 'plugins/part.mjs', 'tools/say.sh', 'bin/mytool', 'pipeline.yaml'])
      utimesSync(join(project.folder, name), moment, moment);
  },
};

/** Commands beside a build, and what may happen to them. */
const PROCESSES: Readonly<Record<string, Attack>> = {
  'another build': arena => start(arena, ['build', '--jobs', `${1 + Math.floor(arena.random() * 6)}`]),
  'another build that keeps going': arena => start(arena, ['build', '-k', pick(arena.random, ['letters', 'join', 'lines'])]),
  'a build with another parameter': arena => start(arena, ['build', '-p', `tone=${pick(arena.random, ['loud', 'soft'])}`]),
  'a build that runs all again': arena => start(arena, ['build', '--force']),
  'a build that reads all again': arena => start(arena, ['build', '--rehash']),
  'a build that checks': arena => start(arena, ['build', '--check', 'letters']),
  'a frozen build': arena => start(arena, ['build', '--frozen']),
  'a build whose clock is wrong': arena =>
    start(arena, ['build'], {
      NODE_OPTIONS: preload('shift-clock'),
      CLOCK_SHIFT_MS: `${pick(arena.random, [-86_400_000, -1000, 1000, 86_400_000])}`,
    }),
  'a build that dies between two writes': arena =>
    start(arena, ['build'], {
      NODE_OPTIONS: preload('die-at-write'),
      DIE_AT_WRITE: `${1 + Math.floor(arena.random() * 120)}`,
      DIE_HOW: pick(arena.random, ['before', 'torn']),
    }),
  'a build without a folder for temporary files': arena => start(arena, ['build'], { TMPDIR: '/does/not/exist' }),
  'a build in another time zone and language': arena => start(arena, ['build'], { TZ: 'Asia/Tokyo', LANG: 'C', LC_ALL: 'C' }),
  'a collection': arena =>
    start(arena, arena.random() < 0.5 ? ['cache', 'gc'] : ['cache', 'gc', '--max-size', pick(arena.random, ['0B', '3KB', '20KB'])]),
  'a verification': arena => start(arena, ['cache', 'verify']),
  'an export': arena => start(arena, ['cache', 'export', join(arena.copies, 'archive'), ...(arena.random() < 0.5 ? ['--all'] : [])]),
  'an import': arena => start(arena, ['cache', 'import', join(arena.copies, 'archive')]),
  'a sweep': arena => start(arena, ['sweep', '-m', 'tone=loud,soft', 'score']),
  'a watcher': arena => start(arena, ['watch']),
  'a clean': arena => start(arena, ['clean', pick(arena.random, ['upper', 'lines', '--all'])]),
  'a look': arena =>
    start(
      arena,
      pick(arena.random, [
        ['status'],
        ['explain', 'join'],
        ['history'],
        ['log', 'upper'],
        ['profile'],
        ['cache', 'stats'],
        ['build', '--dry-run'],
        ['graph'],
        ['diff'],
      ]),
    ),
  'a signal': ({ running, random }) => {
    const last = running.at(-1);
    last?.process.signal(pick(random, ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']));
  },
  'a process that pauses': ({ running, random }) => {
    const last = running.at(-1);
    last?.process.signal('SIGSTOP');
    setTimeout(() => last?.process.signal('SIGCONT'), random() * 300);
  },
};

export const ATTACKS: Readonly<Record<string, Attack>> = { ...EDITS, ...EXCHANGES };
export const BESIDE: Readonly<Record<string, Attack>> = { ...PROCESSES, ...repeated(PROCESSES), ...EDITS, ...EXCHANGES };

/** Processes are as frequent beside a build as all else together. */
function repeated(attacks: Readonly<Record<string, Attack>>): Readonly<Record<string, Attack>> {
  return Object.fromEntries(Object.entries(attacks).map(([name, attack]) => [`${name} `, attack]));
}

function start({ project, running }: Arena, args: readonly string[], environment: NodeJS.ProcessEnv = {}): void {
  running.push({ what: args.join(' '), process: project.with({ environment }).start(...args) });
}

function preload(name: string): string {
  return `--import=${pathToFileURL(join(DIST, `test/support/${name}.js`)).href}`;
}
