/**
 * Rounds of attacks on a project: files of the cache damaged, foreign files laid down, sources, plugins and artifacts edited while a build runs, builds
 * cancelled, collections, archives and looks beside them. After each round a build must give what a clean build of the same files gives, and nobody's file may be lost.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isCodedError } from '../../src/base/coded-error.js';
import { isJsonObject, type Json } from '../../src/base/json.js';
import { examineStages } from '../../src/engine/insight/status/status.js';
import { exportCache, importArchive } from '../../src/engine/store/archive/archive.js';
import { archiveAt } from '../../src/engine/store/archive/archive-bytes.js';
import { cacheFolderAt } from '../../src/engine/store/cache-folder.js';
import { clean } from '../../src/engine/store/maintenance/clean.js';
import { collectGarbage, verifyCache } from '../../src/engine/store/maintenance/maintain-cache.js';
import { seededRandom } from '../../src/stage/random.js';
import { contentsOf } from './attacks/contents.js';
import { EXCHANGES, isCollision, isFree, ownFiles, type Place, pick, writeOver } from './attacks/exchanges.js';
import type { StageSpec } from './plan-of.js';
import { type Built, givenWorld, type World } from './world.js';

const STAGES: Readonly<Record<string, StageSpec>> = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  folders: { uses: 'folders', inputs: { text: 'other.txt' } },
  list: { uses: 'list', inputs: { all: 'folders.all' } },
  parts: { uses: 'parts', inputs: { text: 'strip.text' } },
};

const TEXTS = ['one\ntwo', '# a comment\none\ntwo', 'three', '', 'a\nb\nc'];

interface Arena extends Place {
  readonly world: World;
  readonly archive: string;
}

type Attack = (arena: Arena) => void | Promise<void>;

/** What is done to the files while nothing runs, or beside a build. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  ...EXCHANGES,
  'a source is edited': ({ world, random }) => world.write(pick(random, ['source.txt', 'other.txt']), pick(random, TEXTS)),
  'a source becomes a link': ({ world, random }) => {
    rmSync(world.path('source.txt'));
    world.write('elsewhere.txt', pick(random, TEXTS));
    symlinkSync('elsewhere.txt', world.path('source.txt'));
  },
  'a plugin module is edited': ({ world, random }) => {
    const path = join('plugins', pick(random, ['shout.mjs', 'letters.mjs']));
    world.append(path, `// ${Math.floor(random() * 3)}\n`);
  },
  'a foreign file is laid down': arena => layForeign(arena),
  'two foreign files are laid down': arena => {
    layForeign(arena);
    layForeign(arena);
  },
  'a file of the cache is damaged': arena => damage(arena),
  'files of the cache are damaged': arena => {
    for (let i = 0; i < 4; i++) damage(arena);
  },
  'a folder of the cache is gone': ({ world, random, foreign }) => {
    const name = pick(random, ['cas', 'actions', 'state', 'tmp', 'history', 'logs', 'plans']);
    if (isFree(foreign, `cache/${name}/`)) rmSync(world.path(`cache/${name}`), { recursive: true, force: true });
  },
  'the cache is gone': ({ world, foreign }) => {
    if (isFree(foreign, 'cache/')) rmSync(world.path('cache'), { recursive: true, force: true });
  },
  'markers are gone': ({ world }) => {
    for (const name of ['artifacts/.tanren', 'cache/.tanren']) rmSync(world.path(name), { force: true });
  },
  'an artifact is edited': ({ world, random }) => {
    const path = world.path(pick(random, ['artifacts/strip/text', 'artifacts/folders/all/text.txt', 'artifacts/count/metrics.json']));
    // Another name of the file may be a foreign file's.
    if (existsSync(path)) rmSync(path, { recursive: true });
    else return;
    writeFileSync(path, 'edited');
  },
  'an artifact becomes a link': ({ world }) => {
    const path = world.path('artifacts/strip/text');
    if (!existsSync(path)) return;
    rmSync(path);
    symlinkSync(world.path('other.txt'), path);
  },
  'an artifact is gone': ({ world, random, foreign }) => {
    const stage = pick(random, Object.keys(STAGES));
    if (isFree(foreign, `artifacts/${stage}`)) rmSync(world.path(`artifacts/${stage}`), { recursive: true, force: true });
  },
  'a stranger comes into a folder that is an output': ({ world }) => {
    if (existsSync(world.path('artifacts/folders/all'))) world.write('artifacts/folders/all/stranger', 'x');
  },
  'times are set back': ({ world, random }) => {
    const path = world.path(pick(random, ['source.txt', 'artifacts/strip/text', 'plugins/text.mjs']));
    if (existsSync(path)) utimesSync(path, 1, 1);
  },
  'modes are taken': ({ world, random }) => {
    const path = world.path(pick(random, ['cache/cas', 'artifacts/strip', 'artifacts/folders/all']));
    if (existsSync(path)) chmodSync(path, 0o500);
  },
  'the project is moved': ({ world }) => {
    renameSync(world.folder, `${world.folder}-moved`);
    renameSync(`${world.folder}-moved`, world.folder);
  },
  'the cache is a copy': ({ world }) => {
    if (!existsSync(world.path('cache'))) return;
    cpSync(world.path('cache'), world.path('cache-copy'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: path => !path.endsWith('/lock') && !lstatSync(path).isFIFO(),
    });
    rmSync(world.path('cache'), { recursive: true });
    renameSync(world.path('cache-copy'), world.path('cache'));
  },
  'garbage is collected': async ({ world, random }) => {
    if (!existsSync(world.path('cache'))) return;
    const limits = random() < 0.5 ? {} : { maxSizeBytes: Math.floor(random() * 20_000) };
    await collectGarbage(cacheFolderAt(world.path('cache')), limits, 'remove', Date.now(), world.ports());
  },
  'the cache is verified': async ({ world }) => {
    if (existsSync(world.path('cache'))) await verifyCache(cacheFolderAt(world.path('cache')), () => undefined, world.ports());
  },
  'artifacts are cleaned': async ({ world, random }) => {
    const what = random() < 0.5 ? 'artifacts' : 'everything';
    await clean(await world.plan(), { targets: 'all', what }, world.ports());
  },
  'an archive is written': async ({ world, archive }) => {
    const plan = await world.plan();
    const choice = { kind: 'accepted', plan, targets: 'all', parts: 'with parts' } as const;
    await exportCache(cacheFolderAt(world.path('cache')), { choice, since: [] }, { kind: 'file', path: archive }, world.ports().signal);
  },
  'an archive is taken in': async ({ world, archive }) => {
    if (existsSync(archive)) await importArchive(cacheFolderAt(world.path('cache')), archiveAt(archive), world.ports());
  },
  'a damaged archive is taken in': async ({ world, random, archive }) => {
    if (!existsSync(archive)) return;
    const bytes = readFileSync(archive);
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(`${archive}.damaged`, random() < 0.5 ? bytes : bytes.subarray(0, at));
    await importArchive(cacheFolderAt(world.path('cache')), archiveAt(`${archive}.damaged`), world.ports());
  },
  'the project is looked at': async ({ world }) => {
    await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
  },
};

/** Plays `rounds`. A failing round names the seed and the attacks: TANREN_SEED=SEED plays the same again. */
export async function playAttackRounds(rounds: number, seed = process.env.TANREN_SEED ?? `${Date.now()}`): Promise<void> {
  const random = seededRandom(seed, 'attack rounds');
  let arena = newArena(random);
  try {
    for (let round = 0; round < rounds; round++) {
      const attacks = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(random, Object.keys(ATTACKS)));
      const beside = Array.from({ length: Math.floor(random() * 3) }, () => pick(random, Object.keys(ATTACKS)));
      const cancelled = random() < 0.25;
      const where = `round ${round} of seed ${seed}: ${attacks.join('; ')}${beside.length > 0 ? `; beside a build: ${beside.join('; ')}` : ''}${cancelled ? '; cancelled' : ''}`;
      try {
        for (const name of attacks) await attack(arena, name);
        await buildBeside(arena, beside, cancelled);
        await checkAfterwards(arena);
      } catch (error) {
        throw new Error(`${where}\n${error instanceof Error ? error.stack : String(error)}`);
      }
      // What is laid down adds up: a new project from time to time.
      if (round % 20 === 19) {
        close(arena);
        arena = newArena(random);
      }
    }
  } finally {
    close(arena);
  }
}

function newArena(random: () => number): Arena {
  const world = givenWorld(STAGES, { 'source.txt': 'one\ntwo', 'other.txt': 'three' });
  const copies = `${world.folder}.copies`;
  mkdirSync(copies);
  return {
    world,
    folder: world.folder,
    random,
    foreign: new Map(),
    copies,
    outputs: ['artifacts/strip/text', 'artifacts/folders/all/text.txt', 'artifacts/count/metrics.json'],
    folders: ['artifacts/folders', 'artifacts/folders/all', 'plugins'],
    source: 'other.txt',
    archive: `${world.folder}.archive`,
  };
}

function close({ world, archive, copies }: Arena): void {
  world.remove();
  rmSync(copies, { recursive: true, force: true });
  for (const path of [archive, `${archive}.damaged`]) rmSync(path, { force: true });
}

/** A coded error is an answer, and so is one of the file system where two attacks meet; anything else is a defect. */
async function attack(arena: Arena, name: string): Promise<void> {
  try {
    await ATTACKS[name]?.(arena);
  } catch (error) {
    if (!isCodedError(error) && !isCollision(error)) throw error;
  }
}

async function buildBeside(arena: Arena, beside: readonly string[], cancelled: boolean): Promise<void> {
  if (beside.length === 0 && !cancelled) return;
  const stop = new AbortController();
  const building = arena.world.build({ failures: 'keep-going' }, { signal: stop.signal });
  // Where an attack fails, the build still ends before the round does.
  try {
    for (const name of beside) {
      await new Promise(resolve => setTimeout(resolve, arena.random() * 200));
      await attack(arena, name);
    }
    if (cancelled) setTimeout(() => stop.abort(), arena.random() * 300);
  } finally {
    await building;
  }
}

async function checkAfterwards(arena: Arena): Promise<void> {
  const { world, foreign } = arena;
  const built = await buildToTheEnd(arena);
  const expected = await cleanBuildOf(world);
  for (const [path, content] of expected) {
    const found = contentsOf(world.path('artifacts')).get(path);
    if (found !== content)
      throw new Error(`artifacts/${path} is ${JSON.stringify(found)}; a clean build gives ${JSON.stringify(content)}\n${tell(built)}`);
  }
  for (const [path, content] of foreign)
    if (!existsSync(world.path(path)) || readFileSync(world.path(path), 'utf8') !== content)
      throw new Error(`the foreign file ${path} is lost`);
  const extra = [...contentsOf(world.path('artifacts')).keys()].filter(
    path => !expected.has(path) && !foreign.has(`artifacts/${path}`) && !path.startsWith('.'),
  );
  if (extra.length > 0) throw new Error(`artifacts/ also holds ${extra.join(', ')}`);
  const again = await world.build();
  if (Object.values(again.outcomes).some(outcome => outcome !== 'up-to-date'))
    throw new Error(`a second build has something to do: ${tell(again)}`);
  const left = existsSync(world.path('cache/tmp'))
    ? readdirSync(world.path('cache/tmp')).filter(name => !foreign.has(`cache/tmp/${name}`))
    : [];
  if (left.length > 0) throw new Error(`cache/tmp holds ${left.join(', ')}`);
}

/** A foreign file in the way of an output fails its stage with the path: its owner moves it away, and the next build goes through. */
async function buildToTheEnd({ world, foreign }: Arena): Promise<Built> {
  for (let tries = 0; ; tries++) {
    const built = await world.build({ failures: 'keep-going' });
    if (built.report.conclusion === 'built') return built;
    const blocked = [...built.report.stages.values()].flatMap(({ outcome }) =>
      outcome.kind === 'failed' && outcome.failure.code === 'output-blocked' ? [pathOf(outcome.failure.details)] : [],
    );
    if (blocked.length === 0 || tries > 10) throw new Error(`the build does not succeed: ${tell(built)}`);
    for (const path of blocked) {
      rmSync(path, { recursive: true, force: true });
      for (const known of foreign.keys()) if (`${world.path(known)}/`.startsWith(`${path}/`)) foreign.delete(known);
    }
  }
}

function pathOf(details: Json): string {
  if (!isJsonObject(details) || typeof details.path !== 'string') throw new Error('a blocked output names no path');
  return details.path;
}

async function cleanBuildOf(world: World): Promise<ReadonlyMap<string, string>> {
  const fresh = givenWorld(STAGES);
  try {
    for (const name of ['source.txt', 'other.txt']) fresh.write(name, readFileSync(world.path(name), 'utf8'));
    for (const name of readdirSync(world.plugins)) cpSync(join(world.plugins, name), join(fresh.plugins, name));
    await fresh.build();
    return new Map([...contentsOf(fresh.path('artifacts'))].filter(([path]) => !path.startsWith('.')));
  } finally {
    fresh.remove();
  }
}

const PLACES = [
  'artifacts',
  'artifacts/strip',
  'artifacts/count',
  'artifacts/own',
  'cache',
  'cache/tmp',
  'cache/cas',
  'cache/cas/00',
  'cache/actions',
  'cache/state',
  'cache/logs',
  'cache/notes',
];

function layForeign({ world, random, foreign }: Arena): void {
  const path = `${pick(random, PLACES)}/${pick(random, ['mine', 'model.bin', 'notes.txt', 'text', 'database.sqlite-wal'])}`;
  if (existsSync(world.path(path)) || [...foreign.keys()].some(known => known.startsWith(`${path}/`))) return;
  try {
    mkdirSync(dirname(world.path(path)), { recursive: true });
  } catch {
    return;
  }
  // An output may stand there later: then it is not foreign any more, as its owner is told to move it.
  const content = `mine ${random()}`;
  world.write(path, content);
  foreign.set(path, content);
}

/** A new file takes the place of the damaged one, because its inode may have other names. */
function damage({ folder, random, foreign }: Arena): void {
  const files = ownFiles(folder, foreign);
  if (files.length === 0) return;
  const path = join(folder, pick(random, files));
  const bytes = readFileSync(path);
  const at = Math.floor(random() * bytes.length);
  const kind = random();
  if (kind < 0.2) rmSync(path);
  else if (kind < 0.4) writeOver(path, bytes.subarray(0, at));
  else if (kind < 0.6) writeOver(path, '');
  else writeOver(path, Buffer.concat([bytes.subarray(0, at), Buffer.from([(bytes[at] ?? 0) ^ 4]), bytes.subarray(at + 1)]));
}

function tell({ report, events }: Built): string {
  const ends = [...report.stages].map(
    ([stage, { outcome }]) =>
      `${stage} ${outcome.kind === 'failed' ? `failed: ${outcome.failure.code} ${outcome.failure.message}` : outcome.kind}`,
  );
  const warnings = events.flatMap(event => (event.kind === 'warning' ? [`${event.code}: ${event.message}`] : []));
  return [...ends, ...warnings].join('\n');
}
