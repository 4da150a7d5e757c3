/** Random histories of edits and builds after which the lock must be that of a build from nothing: random graphs, edits, platform classes, builds of targets, and builds that leave the lock alone. */
import { cpSync } from 'node:fs';
import fc from 'fast-check';
import { encodeLock } from '../../src/engine/lockfile/encode-lock.js';
import type { Lock, LockedStage } from '../../src/engine/lockfile/lock.js';
import { readLockFile } from '../../src/engine/lockfile/lock-file.js';
import { lockFileOf } from '../../src/engine/lockfile/lock-path.js';
import { madeFromOthers } from '../../src/engine/lockfile/next-lock.js';
import type { StageId } from '../../src/engine/model/plan.js';
import type { StageSpec } from './plan-of.js';
import type { World } from './world.js';
import { givenWorld } from './world.js';

type Edit =
  | { readonly kind: 'source'; readonly which: number; readonly text: string }
  | { readonly kind: 'stage'; readonly which: number; readonly uses: string; readonly add: string; readonly reads: number }
  | { readonly kind: 'remove'; readonly which: number }
  | { readonly kind: 'class'; readonly name: string };

interface Step {
  readonly edits: readonly Edit[];
  readonly build: 'whole' | 'target' | 'without lock';
  readonly target: number;
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const SOURCES = ['one.txt', 'two.txt'];
const small = fc.nat(4);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant('source' as const), which: fc.nat(1), text: fc.constantFrom('x', 'y', 'z') }),
  fc.record({
    kind: fc.constant('stage' as const),
    which: small,
    uses: fc.constantFrom('plain', 'plain', 'perClass', 'measured'),
    add: fc.constantFrom('1', '2'),
    reads: fc.nat(6),
  }),
  fc.record({ kind: fc.constant('remove' as const), which: small }),
  fc.record({ kind: fc.constant('class' as const), name: fc.constantFrom('class-1', 'class-2', 'class-3') }),
);
const step: fc.Arbitrary<Step> = fc.record({
  edits: fc.array(edit, { maxLength: 3 }),
  build: fc.constantFrom('whole', 'whole', 'target', 'without lock'),
  target: small,
});
const start: Step = {
  edits: NAMES.map((_, which) => ({ kind: 'stage', which, uses: which === 1 ? 'perClass' : 'plain', add: '1', reads: which })),
  build: 'whole',
  target: 0,
};

export const histories = fc.array(step, { minLength: 4, maxLength: 7 }).map(steps => [start, ...steps]);

/** Plays one history. @throws where a lock is not what a build from nothing writes, or does not hold a build from nothing. */
export async function playLockHistory(history: readonly Step[]): Promise<void> {
  const world = givenWorld({}, Object.fromEntries(SOURCES.map(name => [name, 'x'])));
  try {
    for (const { edits, build, target } of history) {
      for (const one of edits) apply(world, one);
      const names = Object.keys(world.stages);
      const chosen = names[target % Math.max(1, names.length)];
      if (build === 'without lock') await world.build();
      else await expectBuilt(world, 'write', build === 'target' && chosen !== undefined ? [chosen as StageId] : 'all');
      if (build === 'whole') await check(world);
    }
  } finally {
    world.remove();
  }
}

function apply(world: World, one: Edit): void {
  const stages: Record<string, StageSpec> = { ...world.stages };
  const name = one.kind === 'stage' || one.kind === 'remove' ? (NAMES[one.which] ?? '') : '';
  if (one.kind === 'source') world.write(SOURCES[one.which] ?? '', one.text);
  else if (one.kind === 'class') world.platformClass = one.name;
  else if (one.kind === 'remove') {
    if (Object.values(stages).every(({ inputs }) => inputs?.text !== `${name}.text`)) delete stages[name];
  } else {
    // Only what comes earlier in the alphabet can be read, so that there is never a cycle.
    const before = [
      ...SOURCES,
      ...NAMES.slice(0, one.which)
        .filter(other => stages[other] !== undefined)
        .map(other => `${other}.text`),
    ];
    stages[name] = { uses: one.uses, params: { add: one.add }, inputs: { text: before[one.reads % before.length] ?? '' } };
  }
  world.stages = Object.fromEntries(Object.entries(stages).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function check(world: World): Promise<void> {
  const lock = readLock(world);
  const fresh = copyOf(world, 'without lock');
  await expectBuilt(fresh, 'write', 'all');
  expect(ownView(lock, world.platformClass)).toBe(ownView(readLock(fresh), world.platformClass));
  fresh.remove();
  for (const { facts, results } of lock.stages.values()) {
    for (const [name, result] of results.kind === 'per-class' ? results.classes : [])
      expect(madeFromOthers(facts, result, name, lock.stages)).toEqual([]);
  }
  const written = world.read('pipeline.lock');
  for (const platformClass of classesIn(lock, world.platformClass)) {
    const clone = copyOf(world, 'with lock');
    clone.platformClass = platformClass;
    await expectBuilt(clone, 'frozen', 'all');
    expect(clone.read('pipeline.lock')).toBe(written);
    clone.remove();
  }
  await expectBuilt(world, 'frozen', 'all');
  expect(world.read('pipeline.lock')).toBe(written);
}

async function expectBuilt(world: World, use: 'write' | 'frozen', targets: 'all' | readonly StageId[]): Promise<void> {
  const { report, warnings } = await world.build({ targets, lock: { file: lockFileOf('pipeline.yaml', world.folder), use } });
  expect([report.conclusion, warnings]).toEqual(['built', []]);
  // The plugins give the same bytes on every class: nothing can be anything but as locked.
  if (use === 'frozen') for (const { locked } of report.stages.values()) expect(['as-locked', 'by-gates']).toContain(locked);
}

function copyOf(world: World, what: 'with lock' | 'without lock'): World {
  const copy = givenWorld(world.stages, {});
  copy.platformClass = world.platformClass;
  for (const name of [...SOURCES, ...(what === 'with lock' ? ['pipeline.lock'] : [])]) cpSync(world.path(name), copy.path(name));
  return copy;
}

function readLock(world: World): Lock {
  const read = readLockFile(lockFileOf('pipeline.yaml', world.folder));
  if (read === undefined) throw new Error('there is no lock');
  return read.lock;
}

/** The lock without what other classes have entered. */
function ownView({ stages }: Lock, platformClass: string): string {
  const own = [...stages].map(([id, { facts, results }]): [string, LockedStage] => {
    if (results.kind !== 'per-class') return [id, { facts, results }];
    const classes = new Map([...results.classes].filter(([name]) => name === platformClass));
    return [id, { facts, results: { ...results, classes } }];
  });
  return encodeLock({ stages: new Map(own) });
}

function classesIn({ stages }: Lock, own: string): ReadonlySet<string> {
  const found = new Set([own]);
  for (const { results } of stages.values()) for (const name of results.kind === 'per-class' ? results.classes.keys() : []) found.add(name);
  return found;
}
