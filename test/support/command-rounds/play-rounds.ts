/**
 * Rounds of attacks by and on the command line: several builds and other commands at once, killed, paused and with a wrong clock, while inputs, code, programs
 * and the engine's own files change. After each round one build must leave what a plain function of the inputs says, and nobody's file may be lost.
 */
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../src/stage/random.js';
import { contentsOf } from '../attacks/contents.js';
import { isCollision, pick } from '../attacks/exchanges.js';
import type { CliResult } from '../cli-world.js';
import { givenAttackedProject } from './attacked-project.js';
import { type Arena, ATTACKS, BESIDE } from './attacks.js';

/** Plays `rounds`. A failing round names the seed and the attacks: TANREN_SEED=SEED plays the same again, as far as the clock lets it. */
export async function playCommandRounds(rounds: number, seed = process.env.TANREN_SEED ?? `${Date.now()}`): Promise<void> {
  const random = seededRandom(seed, 'command rounds');
  let arena = newArena(random);
  try {
    for (let round = 0; round < rounds; round++) {
      const attacks = Array.from({ length: Math.floor(random() * 4) }, () => pick(random, Object.keys(ATTACKS)));
      const beside = Array.from({ length: Math.floor(random() * 5) }, () => pick(random, Object.keys(BESIDE)));
      try {
        for (const name of attacks) attack(arena, ATTACKS, name);
        await buildBeside(arena, beside);
        await checkAfterwards(arena);
      } catch (error) {
        const where = `round ${round} of seed ${seed}: ${attacks.join('; ')}; beside a build: ${beside.map(name => name.trim()).join('; ')}`;
        throw new Error(`${where}\n${error instanceof Error ? error.stack : String(error)}`);
      }
      // What is laid down adds up: a new project from time to time.
      if (round % 10 === 9) {
        close(arena);
        arena = newArena(random);
      }
    }
  } finally {
    if (process.env.TANREN_KEEP === undefined) close(arena);
  }
}

function newArena(random: () => number): Arena {
  const copies = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-copies-')));
  const project = givenAttackedProject();
  const outputs = ['artifacts/upper/text', 'artifacts/lines/all/parts', 'artifacts/join/text', 'artifacts/score/metrics.json'];
  const folders = ['artifacts/lines', 'artifacts/lines/all', 'plugins', 'parts'];
  return { project, folder: project.folder, random, foreign: new Map(), copies, outputs, folders, source: 'right.txt', running: [] };
}

function close({ project, copies }: Arena): void {
  project.remove();
  rmSync(copies, { recursive: true, force: true });
}

/** Beside a build a file may be there and gone between two calls of an attack. */
function attack(arena: Arena, from: typeof ATTACKS, name: string): void {
  try {
    from[name]?.(arena);
  } catch (error) {
    if (!isCollision(error)) throw error;
  }
}

async function buildBeside(arena: Arena, beside: readonly string[]): Promise<void> {
  if (beside.length === 0) return;
  arena.running.push({ what: 'build', process: arena.project.start('build', '--jobs', '2') });
  for (const name of beside) {
    await wait(arena.random() * 400);
    attack(arena, BESIDE, name);
  }
  for (const { what, process } of arena.running) {
    if (what === 'watch') {
      await wait(200 + arena.random() * 500);
      process.signal(pick(arena.random, ['SIGTERM', 'SIGKILL']));
    }
    const ended = await Promise.race([process.ended, wait(120_000).then(() => 'late' as const)]);
    if (ended === 'late')
      throw new Error(
        `"${what}" does not end:\n${process.output()}\n${arena.running.map(one => `${one.what}: ${one.process.output()}`).join('\n')}`,
      );
    if (ended === 70 || /internal error|\n {4}at /.test(process.output())) throw new Error(`"${what}" breaks:\n${process.output()}`);
  }
  arena.running.length = 0;
}

async function checkAfterwards(arena: Arena): Promise<void> {
  const { project, foreign } = arena;
  const built = buildToTheEnd(arena);
  const found = contentsOf(join(project.folder, 'artifacts'));
  const expected = project.expected();
  for (const [path, content] of expected) {
    if (found.get(path) !== content)
      throw new Error(`artifacts/${path} is ${JSON.stringify(found.get(path))}, not ${JSON.stringify(content)}\n${built.stdout}`);
  }
  const extra = [...found.keys()].filter(path => !expected.has(path) && !foreign.has(`artifacts/${path}`) && !path.startsWith('.'));
  if (extra.length > 0) throw new Error(`artifacts/ also holds ${extra.join(', ')}\n${built.stdout}`);
  for (const [path, content] of foreign)
    if (!project.exists(path) || project.read(path) !== content) throw new Error(`the foreign file ${path} is lost or changed`);
  const again = project.run('build', ...(arena.random() < 0.3 ? ['--frozen'] : []));
  if (again.exitCode !== 0 || !again.stdout.includes('nothing to do'))
    throw new Error(`a second build does not find all as it is:\n${tell(again)}`);
  if (arena.random() < 0.3) checkCache(arena);
  const left = existsSync(join(project.folder, 'cache/tmp'))
    ? readdirSync(join(project.folder, 'cache/tmp')).filter(name => !foreign.has(`cache/tmp/${name}`))
    : [];
  if (left.length > 0) throw new Error(`cache/tmp holds ${left.join(', ')}`);
}

/** What is damaged is found and removed once: then nothing is, but for results that have lost a blob, which builds make again. */
function checkCache({ project }: Arena): void {
  project.run('cache', 'verify');
  const verified = project.run('cache', 'verify');
  const problems = verified.stdout
    .split('\n')
    .filter(line => /damaged|removed/.test(line) && !/were removed, and builds make them again/.test(line));
  if (verified.exitCode === null || verified.exitCode > 1 || problems.length > 0)
    throw new Error(`a second verification finds more:\n${tell(verified)}`);
  const built = project.run('build', '--rehash');
  if (built.exitCode !== 0) throw new Error(`a build that reads all again fails:\n${tell(built)}`);
}

/** What is in the way of an output or of the cache fails with a code and the path: its owner moves it away, and the next build goes through. */
function buildToTheEnd({ project, foreign }: Arena): CliResult {
  for (let tries = 0; ; tries++) {
    const built = project.run('build', '-k');
    if (built.exitCode === 0) return built;
    if (built.exitCode === null || built.exitCode === 70 || /internal error/.test(built.stderr))
      throw new Error(`the build breaks:\n${tell(built)}`);
    const blocked = [...`${built.stdout}${built.stderr}`.matchAll(/error\[output-blocked\]: (?:\S+: )?(\S+) is in the place/g)].map(
      ([, path]) => (path ?? '').replace(`${project.folder}/`, ''),
    );
    if (blocked.length === 0 || tries > 8) throw new Error(`the build does not succeed:\n${tell(built)}`);
    for (const path of blocked) {
      rmSync(join(project.folder, path), { recursive: true, force: true });
      for (const known of foreign.keys()) if (`${known}/`.startsWith(`${path}/`)) foreign.delete(known);
    }
  }
}

function tell({ exitCode, stdout, stderr }: CliResult): string {
  return `exit code ${exitCode}\n${stdout}${stderr}`;
}
