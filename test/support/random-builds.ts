/** Is every incremental build a clean one? Random graphs, random changes between builds, and a model of five rules that says what each build must do. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import type { BuildEvent } from '../../src/engine/events.js';
import type { StageSpec } from './plan-of.js';
import type { World } from './world.js';
import { givenWorld } from './world.js';

const SOURCES = ['x0', 'x1', 'x2'] as const;
const TAKES = ['all', 'first', 'parity'] as const;

interface Mixer {
  readonly take: (typeof TAKES)[number];
  readonly add: string;
  /** Indices: sources first, then earlier stages; taken modulo what there is. */
  readonly reads: readonly number[];
}

type Step =
  | { readonly kind: 'edit'; readonly source: number; readonly text: string }
  | { readonly kind: 'turn'; readonly stage: number; readonly mixer: Mixer }
  | { readonly kind: 'add'; readonly mixer: Mixer }
  | { readonly kind: 'remove-last' }
  | { readonly kind: 'break' | 'mend' | 'delete-artifact' | 'edit-artifact'; readonly stage: number }
  | { readonly kind: 'delete-cache' | 'delete-artifacts' }
  | { readonly kind: 'build'; readonly jobs: number; readonly failures: 'stop' | 'keep-going' }
  | { readonly kind: 'cancelled-build'; readonly jobs: number; readonly afterEvents: number };

const text = fc.constantFrom('a', 'b', 'ab', 'ba', '');
const index = fc.nat(20);
const mixer: fc.Arbitrary<Mixer> = fc.record({
  take: fc.constantFrom(...TAKES),
  add: text,
  reads: fc.array(index, { minLength: 1, maxLength: 3 }),
});
const build: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('build' as const),
  jobs: fc.integer({ min: 1, max: 8 }),
  failures: fc.constantFrom('stop' as const, 'keep-going' as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: build },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), source: index, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const), stage: index, mixer }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), mixer }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove-last' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('break' as const, 'mend' as const, 'delete-artifact' as const, 'edit-artifact' as const),
      stage: index,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete-cache' as const, 'delete-artifacts' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('cancelled-build' as const), jobs: fc.integer({ min: 1, max: 8 }), afterEvents: fc.nat(12) }),
  },
);

/** Runs `runs` random histories. fast-check prints seed and path of a failing one, the smallest it finds, and replays it. */
export async function checkRandomBuilds(runs: number, seed?: number): Promise<void> {
  const history = fc.record({
    mixers: fc.array(mixer, { minLength: 2, maxLength: 7 }),
    steps: fc.array(step, { minLength: 4, maxLength: 16 }),
  });
  const property = fc.asyncProperty(history, async ({ mixers, steps }) => {
    const play = new Play(mixers);
    try {
      for (const one of steps) await play.take(one);
      // Whatever happened: mended and built, everything is right; built again, nothing is to do.
      for (let i = 0; i < play.mixers.length; i++) await play.take({ kind: 'mend', stage: i });
      await play.take({ kind: 'build', jobs: 2, failures: 'stop' });
      await play.take({ kind: 'build', jobs: 2, failures: 'stop' });
    } finally {
      play.world.remove();
    }
  });
  await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) });
}

/** What the engine should know after what happened so far. */
class Play {
  readonly world: World = givenWorld({}, { x0: 'a', x1: 'b', x2: '' });
  readonly mixers: Mixer[];
  private readonly sources = ['a', 'b', ''];
  private readonly broken = new Set<number>();
  /** Actions with a result in the cache, and those of which a cancelled build may have left one. */
  private readonly known = new Set<string>();
  private readonly maybe = new Set<string>();
  private readonly accepted = new Map<number, string>();
  private readonly touched = new Set<number>();

  constructor(mixers: readonly Mixer[]) {
    this.mixers = [...mixers];
    this.writeStages();
    for (let i = 0; i < 20; i++) writeFileSync(this.whole(i), '');
  }

  async take(step: Step): Promise<void> {
    const stage = 'stage' in step ? step.stage % this.mixers.length : 0;
    switch (step.kind) {
      case 'edit': {
        const source = step.source % SOURCES.length;
        this.sources[source] = step.text;
        this.world.write(SOURCES[source] ?? '', step.text);
        return;
      }
      case 'turn':
        this.mixers[stage] = step.mixer;
        return this.writeStages();
      case 'add':
        if (this.mixers.length < 9) this.mixers.push(step.mixer);
        return this.writeStages();
      case 'remove-last':
        if (this.mixers.length > 2) this.mixers.pop();
        return this.writeStages();
      case 'break':
        this.broken.add(stage);
        return rmSync(this.whole(stage), { force: true });
      case 'mend':
        this.broken.delete(stage);
        return writeFileSync(this.whole(stage), '');
      case 'delete-artifact':
      case 'edit-artifact': {
        const path = this.artifact(stage);
        if (!existsSync(path)) return;
        this.touched.add(stage);
        return step.kind === 'delete-artifact' ? rmSync(path) : writeFileSync(path, 'forged');
      }
      case 'delete-artifacts':
        rmSync(this.world.path('artifacts'), { recursive: true, force: true });
        for (const id of this.accepted.keys()) this.touched.add(id);
        return;
      case 'delete-cache':
        rmSync(this.world.path('cache'), { recursive: true, force: true });
        for (const set of [this.known, this.maybe, this.accepted, this.touched]) set.clear();
        return;
      case 'build':
        return this.build(step.jobs, step.failures);
      case 'cancelled-build':
        return this.cancelledBuild(step.jobs, step.afterEvents);
    }
  }

  private async build(jobs: number, failures: 'stop' | 'keep-going'): Promise<void> {
    const values = new Map<number, string>();
    const expected = this.mixers.map((_, i) => this.expectStage(i, values));
    const { outcomes } = await this.world.build({ jobs, failures });
    const stopped = failures === 'stop' && Object.values(outcomes).includes('failed');
    for (const [i, { allowed, key }] of expected.entries()) {
      const outcome = outcomes[`s${i}`] ?? 'missing';
      // A build that stops at a failure starts nothing more: which stages it had not come to depends on how fast the others were.
      if (!allowed.includes(outcome) && !(stopped && outcome === 'skipped')) {
        throw new Error(`stage s${i} was ${outcome}, not ${allowed.join(' or ')}`);
      }
      if (outcome === 'failed' || outcome === 'skipped') continue;
      this.noteResult(i, key);
      const found = this.world.read(`artifacts/s${i}/text`);
      if (found !== values.get(i)) throw new Error(`stage s${i} holds "${found}", not "${values.get(i)}"`);
    }
  }

  /** The rules: what the stage must do, where all before it did what they must. */
  private expectStage(i: number, values: Map<number, string>): { readonly allowed: readonly string[]; readonly key: string } {
    const inputs = this.inputsOf(i).map(read => (read < 3 ? this.sources[read] : values.get(read - 3)));
    if (inputs.includes(undefined)) return { allowed: ['skipped'], key: '' };
    const { take, add } = this.mixerAt(i);
    const joined = inputs.join('+') + add;
    const key = JSON.stringify([i, take, add, inputs]);
    const value = take === 'all' ? joined : take === 'first' ? joined.slice(0, 1) : String(joined.length % 2);
    const runs = this.broken.has(i) ? 'failed' : 'executed';
    const allowed = this.allowedOutcomes(i, key, runs);
    // Where a cancelled build leaves it open whether a broken stage has a result, what follows is open too: it is mended, so that it is not.
    if (allowed.length > 1 && runs === 'failed') {
      this.broken.delete(i);
      writeFileSync(this.whole(i), '');
      values.set(i, value);
      return { allowed: this.allowedOutcomes(i, key, 'executed'), key };
    }
    if (allowed[0] !== 'failed') values.set(i, value);
    return { allowed, key };
  }

  private allowedOutcomes(i: number, key: string, runs: 'failed' | 'executed'): readonly string[] {
    if (this.maybe.has(key)) return ['up-to-date', 'restored', runs];
    if (this.accepted.get(i) === key && !this.touched.has(i)) return ['up-to-date'];
    return this.known.has(key) ? ['restored'] : [runs];
  }

  private noteResult(i: number, key: string): void {
    this.known.add(key);
    this.maybe.delete(key);
    this.accepted.set(i, key);
    this.touched.delete(i);
  }

  /** Whatever it came to, nothing wrong may stay: the builds after it say so. */
  private async cancelledBuild(jobs: number, afterEvents: number): Promise<void> {
    const values = new Map<number, string>();
    const keys = this.mixers.map((_, i) => this.expectStage(i, values).key);
    const controller = new AbortController();
    let events = 0;
    const emit = (_event: BuildEvent): void => {
      if (events++ === afterEvents) controller.abort('SIGINT');
    };
    await this.world.build({ jobs }, { emit, signal: controller.signal });
    for (const key of keys) if (key !== '') this.maybe.add(key);
  }

  private writeStages(): void {
    const entries = this.mixers.map(({ take, add }, i): [string, StageSpec] => {
      const texts = this.inputsOf(i).map((read, entry) => [`e${entry}`, read < 3 ? (SOURCES[read] ?? '') : `s${read - 3}.text`]);
      return [`s${i}`, { uses: 'mix', params: { take, add, unless: this.whole(i) }, inputs: { texts: Object.fromEntries(texts) } }];
    });
    this.world.stages = Object.fromEntries(entries);
  }

  private inputsOf(i: number): readonly number[] {
    return this.mixerAt(i).reads.map(read => read % (3 + i));
  }

  private mixerAt(i: number): Mixer {
    const found = this.mixers[i];
    if (found === undefined) throw new Error(`no stage ${i}`);
    return found;
  }

  /** A file outside the graph: while it is missing, the stage fails. */
  private whole(i: number): string {
    return this.world.path(`whole-${i}`);
  }

  private artifact(i: number): string {
    return this.world.path(`artifacts/s${i}/text`);
  }
}
