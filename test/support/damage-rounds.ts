/** Rounds of damage: any file of the cache is cut, changed, emptied, lengthened or removed, and the next build must be right without help. */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/stage/random.js';
import { type CliWorld, givenProject } from './cli-world.js';
import { findDamage, findWrong, UPPER_LINES } from './upper-lines.js';

const TEXTS = ['iron\n', 'iron\nsteel\n', 'fire\n\nwater\n'];

/** Commands that look into the cache: whatever is in it, none of them is an internal error. */
const LOOKS = [['status'], ['explain', 'lines'], ['log', 'upper'], ['cache', 'stats'], ['build', '--dry-run']];

/** A failing round names the seed: TANREN_SEED=SEED plays the same again. */
export function playDamageRounds(rounds: number, seed = process.env.TANREN_SEED ?? `${Date.now()}`): void {
  const random = seededRandom(seed, 'damage rounds');
  const project = givenProject({ 'pipeline.yaml': UPPER_LINES });
  try {
    for (const text of TEXTS) buildWith(project, text, `the builds before, seed ${seed}`);
    for (let round = 0; round < rounds; round++) {
      const text = pick(random, TEXTS);
      project.write('left.txt', text);
      const hurt = damage(random, join(project.folder, 'cache'));
      // Without its artifacts, a build takes all it can out of the cache.
      if (random() < 0.7) rmSync(join(project.folder, 'artifacts'), { recursive: true, force: true });
      const where = `round ${round} of seed ${seed}, ${hurt}`;
      const look = pick(random, LOOKS);
      const looked = project.run(...look);
      if (looked.exitCode === 70 || looked.exitCode === null) throw new Error(`${where}: ${look.join(' ')} breaks:\n${looked.stderr}`);
      buildWith(project, text, where);
      // What no build has read since may still be damaged: this finds it, and nothing is left but whole blobs.
      project.run('cache', 'verify');
      const damaged = findDamage(join(project.folder, 'cache/cas'));
      if (damaged.length > 0) throw new Error(`${where}: ${damaged.join(', ')} do not have their digests`);
    }
  } finally {
    project.remove();
  }
}

function buildWith(project: CliWorld, text: string, where: string): void {
  project.write('left.txt', text);
  const built = project.run('build');
  if (built.exitCode !== 0) throw new Error(`${where}: the build fails:\n${built.stdout}${built.stderr}`);
  const wrong = findWrong(project, text);
  if (wrong !== undefined) throw new Error(`${where}: ${wrong}\n${built.stdout}`);
}

/** @returns what was done to which file. */
function damage(random: () => number, cache: string): string {
  const files = readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  const path = pick(random, files);
  const bytes = readFileSync(path);
  const at = Math.floor(random() * bytes.length);
  const kind = pick(random, ['cut', 'flip', 'zeros', 'empty', 'longer', 'gone', 'garbage'] as const);
  chmodSync(path, 0o600);
  if (kind === 'gone') rmSync(path);
  else writeFileSync(path, changed(bytes, at, kind));
  return `${path.slice(cache.length + 1)}: ${kind} at ${at} of ${bytes.length}`;
}

function changed(bytes: Buffer, at: number, kind: 'cut' | 'flip' | 'zeros' | 'empty' | 'longer' | 'garbage'): Buffer {
  switch (kind) {
    case 'cut':
      return bytes.subarray(0, at);
    case 'flip':
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([(bytes[at] ?? 0) ^ (1 << (at % 8))]), bytes.subarray(at + 1)]);
    case 'zeros':
      return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]);
    case 'empty':
      return Buffer.alloc(0);
    case 'longer':
      return Buffer.concat([bytes, bytes.subarray(at)]);
    case 'garbage':
      return Buffer.from(bytes.map((byte, i) => (i < at ? byte : (byte * 31 + i) & 0xff)));
  }
}

function pick<T>(random: () => number, from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
}
