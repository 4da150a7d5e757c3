/** Rounds of builds killed at a random moment: an edit, a build that is killed, a check of all that it left. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../src/stage/random.js';
import { type CliWorld, givenProject } from './cli-world.js';

/** Two chains that share a source, a stage that joins them, a folder as an artifact: each stage a program. */
const PIPELINE = `version: 1
sources: {left: left.txt, right: right.txt}
stages:
  upper: {uses: command, with: {run: ["tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: "\${sources.left}"}}
  first: {uses: command, with: {run: ["head -c 1 in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: upper.text}}
  lines: {uses: command, with: {run: ["mkdir out; split -l 1 in.txt out/"], shell: sh, inputs: {text: in.txt}, outputs: {all: out}}, inputs: {text: "\${sources.right}"}}
  join: {uses: command, with: {run: ["cat one.txt all/* > out.txt"], shell: sh, inputs: {one: one.txt, all: all}, outputs: {text: out.txt}}, inputs: {one: first.text, all: lines.all}}
`;

/** Plays `rounds`; a failing one names the seed, which replays the edits and the moments as far as the clock lets it. */
export async function playKillRounds(rounds: number, seed = process.env.TANREN_SEED ?? `${Date.now()}`): Promise<void> {
  const random = seededRandom(seed, 'kill rounds');
  const pick = (count: number): number => Math.floor(random() * count);
  const words = ['iron', 'steel', 'fire', 'water\nstone', 'a\nb\nc'];
  const texts = { left: 'iron', right: 'a\nb' };
  const project = givenProject({ 'pipeline.yaml': PIPELINE, 'left.txt': texts.left, 'right.txt': texts.right });
  const fullMs = timeOf(project);
  try {
    for (let round = 0; round < rounds; round++) {
      const side = pick(2) === 0 ? 'left' : 'right';
      texts[side] = `${words[pick(words.length)]}${pick(4)}`;
      project.write(`${side}.txt`, texts[side]);
      const running = project.start('build', '--jobs', `${1 + pick(4)}`);
      await wait(random() * 1.3 * fullMs);
      running.signal('SIGKILL');
      await running.ended;
      // Most kills follow on one another; now and then, what they left is looked at.
      if (pick(3) > 0 && round < rounds - 1) continue;
      checkAfterwards(project, texts, `round ${round} of seed ${seed}`);
    }
  } finally {
    project.remove();
  }
}

function timeOf(project: CliWorld): number {
  const started = performance.now();
  project.run('build');
  return performance.now() - started;
}

function checkAfterwards(project: CliWorld, { left, right }: { readonly left: string; readonly right: string }, where: string): void {
  // Before any build repairs it: no blob without its digest, no record without its blobs.
  const verified = project.run('cache', 'verify');
  if (verified.exitCode !== 0) throw new Error(`${where}: the cache is damaged:\n${verified.stdout}`);
  const built = project.run('build');
  if (built.exitCode !== 0) throw new Error(`${where}: the build fails:\n${built.stdout}${built.stderr}`);
  if (/damaged|warning/.test(built.stdout)) throw new Error(`${where}: the build warns:\n${built.stdout}`);
  const joined = `${left.toUpperCase().slice(0, 1)}${right}`;
  const found = project.read('artifacts/join/text');
  if (found !== joined) throw new Error(`${where}: join holds "${found}", not "${joined}"`);
  if (!project.run('build').stdout.includes('nothing to do')) throw new Error(`${where}: a second build has something to do`);
  const running = findProcesses(project.folder);
  if (running.length > 0) throw new Error(`${where}: left running: ${running.join('; ')}`);
}

/** Command lines and working folders that name `folder`, on Linux. */
function findProcesses(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return command.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) ? [`${pid} ${command}`] : [];
      } catch {
        return []; // It ended while we looked, or is not ours to look at.
      }
    });
}
