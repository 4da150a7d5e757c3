/** Builds that die between any two of their writes. Each point in turn: a change, a build that dies there, a check of all that it left. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { type CliWorld, givenProject } from './cli-world.js';
import { findDamage, findWrong, UPPER_LINES } from './upper-lines.js';
import { DIST } from './world.js';

/**
 * What the build that dies was about to do: everything, what an edit needs ('undone': the edit is taken back before the next build), or to
 * restore what it has. Or it is no build: a collection of garbage.
 */
export type Occasion = 'cold' | 'edit' | 'undone' | 'restore' | 'gc';

const BUILD = ['build', '--jobs', '1'];
const COMMANDS: Readonly<Record<Occasion, readonly string[]>> = {
  cold: BUILD,
  edit: BUILD,
  undone: BUILD,
  restore: BUILD,
  gc: ['cache', 'gc', '--max-size', '1B'],
};

export interface CrashPlan {
  readonly occasion: Occasion;
  /** At the write: not begun, or half done. */
  readonly how: 'before' | 'torn';
  /** Which of the points are played: every `stride`-th, from the first or a later one. */
  readonly stride: number;
  readonly first?: number;
  /** A foreign file stands beside the outputs of each stage. */
  readonly beside?: 'a file';
}

/** Foreign files. */
const BESIDE = ['artifacts/upper/notes.txt', 'artifacts/lines/notes.txt'];

/** @returns how many points were played. @throws where a build after a crash is not right, naming the write. */
export function playCrashPoints({ occasion, how, stride, first = 1, beside }: CrashPlan): number {
  const project = givenProject({ 'pipeline.yaml': UPPER_LINES });
  let played = 0;
  try {
    if (occasion === 'restore') for (const text of RESTORED) buildFor(project, text);
    if (beside !== undefined) putBeside(project);
    const text = prepare(project, occasion, 0);
    const calls = listWrites(project, occasion);
    check(project, text, 'the build that lists its writes');
    for (let at = first; at <= calls.length; at += stride) {
      const before = project.read('left.txt');
      const edited = prepare(project, occasion, ++played);
      const text = occasion === 'undone' ? before : edited;
      const died = runDying(project, occasion, { DIE_AT_WRITE: `${at}`, DIE_HOW: how });
      // Folders that stand already are some writes less than the listed build made.
      if (died === undefined && at < 0.7 * calls.length) throw new Error(`the build did not die at write ${at} of ${calls.length}`);
      project.write('left.txt', text);
      const where = `${occasion}, write ${at} of ${calls.length}, ${died}`;
      check(project, text, where);
      const lost = beside === undefined ? undefined : BESIDE.find(path => !project.exists(path) || project.read(path) !== 'mine');
      if (lost !== undefined) throw new Error(`${where}: ${lost} is gone`);
    }
  } finally {
    project.remove();
  }
  return played;
}

const RESTORED = ['iron\nsteel one\n', 'iron\nsteel two\n'];

/** Brings the project to where the occasion is. @returns the text in its source. */
function prepare(project: CliWorld, occasion: Occasion, round: number): string {
  const text = occasion === 'restore' ? (RESTORED[round % RESTORED.length] ?? '') : `iron\nsteel ${round}\n`;
  project.write('left.txt', text);
  // Something that no pipeline holds any more, and what is held now.
  if (occasion === 'gc') for (const one of [`${text}gone\n`, text]) buildFor(project, one);
  if (occasion !== 'cold') return text;
  for (const name of ['cache', 'artifacts', 'pipeline.lock']) rmSync(join(project.folder, name), { recursive: true, force: true });
  return text;
}

function putBeside(project: CliWorld): void {
  project.run('build');
  for (const path of BESIDE) project.write(path, 'mine');
}

function buildFor(project: CliWorld, text: string): void {
  project.write('left.txt', text);
  project.run('build');
}

function listWrites(project: CliWorld, occasion: Occasion): readonly string[] {
  const list = join(project.folder, '.writes');
  runDying(project, occasion, { WRITES_TO: list });
  return readFileSync(list, 'utf8').trimEnd().split('\n');
}

/** @returns what it died of; undefined where it did not. */
function runDying(project: CliWorld, occasion: Occasion, environment: NodeJS.ProcessEnv): string | undefined {
  const args = ['--import', join(DIST, 'test/support/die-at-write.js'), join(DIST, 'bin/tanren.js'), ...COMMANDS[occasion]];
  const options = { cwd: project.folder, env: { ...process.env, ...environment }, encoding: 'utf8', timeout: 300_000 } as const;
  const { signal, stderr } = spawnSync(process.execPath, args, options);
  return signal === 'SIGKILL' ? stderr.trim().split('\n').at(-1) : undefined;
}

function check(project: CliWorld, text: string, where: string): void {
  const fail = (what: string): never => {
    throw new Error(`${where}: ${what}`);
  };
  for (const path of findDamage(join(project.folder, 'cache/cas'))) fail(`${path} does not have its digest`);
  const built = project.run('build');
  if (built.exitCode !== 0) fail(`the next build fails:\n${built.stdout}${built.stderr}`);
  const said = (built.stdout + built.stderr).split('\n').filter(line => !line.includes('[foreign-files]'));
  if (said.some(line => /damaged|warning/.test(line))) fail(`the next build warns:\n${built.stdout}${built.stderr}`);
  const wrong = findWrong(project, text);
  if (wrong !== undefined) fail(wrong);
  if (!project.read('pipeline.lock').includes(digestBytes(text.toUpperCase()))) fail('pipeline.lock does not name what was built');
  const again = project.run('build');
  if (!again.stdout.includes('nothing to do')) fail(`a second build has something to do:\n${again.stdout}`);
  // A build with nothing to do writes nothing: what was left stays for the next one.
  if (built.stdout.includes('nothing to do')) return;
  for (const folder of ['cache/tmp', 'artifacts/.staging']) {
    if (project.exists(folder) && readdirSync(join(project.folder, folder)).length > 0) fail(`something is left in ${folder}`);
  }
}
