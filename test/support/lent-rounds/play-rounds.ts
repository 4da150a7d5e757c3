/**
 * Rounds of attacks on builds that lend slots: part processes and workers that are killed, paused or misbehave, code and inputs edited, other commands beside.
 * After each round one build must leave what a plain function of the inputs says, no process is left, and no build has more processes than slots.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../src/stage/random.js';
import { contentsOf } from '../attacks/contents.js';
import { pick } from '../attacks/exchanges.js';
import type { CliResult } from '../cli-world.js';
import { type Arena, BESIDE, EDITS } from './attacks.js';
import { findProcesses } from './processes.js';
import { givenSpreadProject, MISCHIEF } from './spread-project.js';

/** Plays `rounds`. A failing round names the seed and the attacks: TANREN_SEED=SEED plays the same again, as far as the clock lets it. */
export async function playLentRounds(rounds: number, seed = process.env.TANREN_SEED ?? `${Date.now()}`): Promise<LentCounts> {
  const random = seededRandom(seed, 'lent rounds');
  const counts: LentCounts = { rounds: 0, withPartProcesses: 0 };
  let arena: Arena = { project: givenSpreadProject(), random, running: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const attacks = ['an input is edited', ...Array.from({ length: Math.floor(random() * 2) }, () => pick(random, Object.keys(EDITS)))];
      const beside = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, Object.keys(BESIDE)));
      // With one or two, slots are rarely free.
      const jobs = random() < 0.2 ? 1 + Math.floor(random() * 2) : 3 + Math.floor(random() * 6);
      try {
        for (const name of attacks) EDITS[name]?.(arena);
        if (await buildBeside(arena, beside, jobs)) counts.withPartProcesses++;
        await checkAfterwards(arena);
        counts.rounds++;
      } catch (error) {
        const where = `round ${round} of seed ${seed}: ${attacks.join('; ')}; beside a build with ${jobs} jobs: ${beside.map(name => name.trim()).join('; ')}`;
        throw new Error(`${where}\n${error instanceof Error ? error.stack : String(error)}`);
      }
      if (round % 10 !== 9) continue;
      arena.project.remove();
      arena = { project: givenSpreadProject(), random, running: [] };
    }
    return counts;
  } finally {
    if (process.env.TANREN_KEEP === undefined) arena.project.remove();
  }
}

export interface LentCounts {
  rounds: number;
  /** Rounds in which a build had part processes. */
  withPartProcesses: number;
}

/** @returns whether a build had part processes. */
async function buildBeside(arena: Arena, beside: readonly string[], jobs: number): Promise<boolean> {
  const { project, random, running } = arena;
  const build = project.start('build', '-k', '--jobs', `${jobs}`);
  running.push({ what: `build --jobs ${jobs}`, process: build });
  let spread = await Promise.race([partProcessIn(project.folder, random() < 0.8 ? 15_000 : 300), build.ended.then(() => false)]);
  await wait(random() * 800);
  for (const name of beside) {
    BESIDE[name]?.(arena);
    await wait(random() * 600);
    const found = findProcesses(project.folder).filter(({ kind }) => kind !== 'program');
    spread ||= found.some(({ kind }) => kind === 'part process');
    // A stage that was alone is checked where one build runs: of two workers without a slot, one of `first`.
    if (running.length === 1 && found.length > jobs + ENDING) throw new Error(`${found.length} processes run with ${jobs} jobs`);
  }
  for (const { what, process } of running) {
    const ended = await Promise.race([process.ended, wait(LATE_MS).then(() => 'late' as const)]);
    const all = (): string => running.map(one => `${one.what}: ${one.process.output()}`).join('\n');
    if (ended === 'late') throw new Error(`"${what}" does not end:\n${all()}\n${JSON.stringify(findProcesses(project.folder))}`);
    if (ended === 70 || /internal error|\n {4}at /.test(process.output())) throw new Error(`"${what}" breaks:\n${all()}`);
  }
  running.length = 0;
  await expectNoProcess(project.folder);
  return spread;
}

/** Waits for a part process, so that most attacks meet some. @returns whether there is one. */
async function partProcessIn(folder: string, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; performance.now() < until; await wait(50))
    if (findProcesses(folder).some(({ kind }) => kind === 'part process')) return true;
  return false;
}

const LATE_MS = 120_000;

/** Processes that were told to end may still be there. */
const ENDING = 2;

/** Processes of a killed build end when they notice it. */
async function expectNoProcess(folder: string): Promise<void> {
  for (let tries = 0; findProcesses(folder).length > 0; tries++) {
    if (tries > 100) throw new Error(`processes are left: ${JSON.stringify(findProcesses(folder))}`);
    await wait(100);
  }
}

async function checkAfterwards({ project, random }: Arena): Promise<void> {
  rmSync(join(project.folder, MISCHIEF), { recursive: true });
  mkdirSync(join(project.folder, MISCHIEF));
  const built = project.run('build', '--jobs', `${1 + Math.floor(random() * 8)}`);
  if (built.exitCode !== 0) throw new Error(`the build does not succeed:\n${tell(built)}`);
  expectArtifacts(project, built);
  const again = project.run('build');
  if (again.exitCode !== 0 || !again.stdout.includes('nothing to do')) throw new Error(`a second build does something:\n${tell(again)}`);
  if (random() < 0.3) checkCache(project);
  await expectNoProcess(project.folder);
  const left = readdirSync(join(project.folder, 'cache/tmp'));
  if (left.length > 0) throw new Error(`cache/tmp holds ${left.join(', ')}`);
}

function expectArtifacts(project: Arena['project'], { stdout }: CliResult): void {
  const found = contentsOf(join(project.folder, 'artifacts'));
  for (const [path, content] of project.expected())
    if (found.get(path) !== content)
      throw new Error(`artifacts/${path} is ${JSON.stringify(found.get(path))}, not ${JSON.stringify(content)}\n${stdout}`);
}

/** What rounds left in the cache is sound, and parts are results too: a stage that takes them from the cache gives the same. */
function checkCache(project: Arena['project']): void {
  const verified = project.run('cache', 'verify');
  if (verified.exitCode !== 0 || /damaged/.test(verified.stdout)) throw new Error(`the cache is damaged:\n${tell(verified)}`);
  const forced = project.run('build', '--force', 'many', 'more');
  if (forced.exitCode !== 0) throw new Error(`a forced build does not succeed:\n${tell(forced)}`);
  expectArtifacts(project, forced);
}

function tell({ exitCode, stdout, stderr }: CliResult): string {
  return `exit code ${exitCode}\n${stdout}${stderr}`;
}
