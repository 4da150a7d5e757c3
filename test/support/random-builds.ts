/** Random histories of builds: random graphs, random changes between builds, and a model of five rules that says what each build must do. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { examineStages } from '../../src/engine/insight/status/status.js';
import type { BuildEvent } from '../../src/engine/model/events.js';
import { checkPredictions } from './check-predictions.js';
import { fixturePath } from './fixtures.js';
import type { StageSpec } from './plan-of.js';
import type { World } from './world.js';
import { DIST, givenWorld } from './world.js';

const SOURCES = ['x0', 'x1', 'x2'] as const;
const TAKES = ['all', 'first', 'parity'] as const;
/** What adds a text of its own to a mixer's: nothing, the module that it imports last, a part, or a program. */
const WAYS = ['mix', 'codeMix', 'partMix', 'toolMix'] as const;
type Way = (typeof WAYS)[number];
type CodeWay = Exclude<Way, 'mix'>;

interface Mixer {
  readonly way: Way;
  readonly take: (typeof TAKES)[number];
  readonly add: string;
  /** Indices: sources first, then earlier stages; taken modulo what there is. */
  readonly reads: readonly number[];
}

interface CodeEdit {
  readonly way: CodeWay;
  readonly text: string;
}

interface Moment {
  readonly event: 'any' | 'stage-started';
  readonly count: number;
}

interface SourceEdit {
  readonly source: number;
  readonly text: string;
}

type Step =
  | { readonly kind: 'edit'; readonly source: number; readonly text: string }
  | { readonly kind: 'turn'; readonly stage: number; readonly mixer: Mixer }
  | { readonly kind: 'add'; readonly mixer: Mixer }
  | { readonly kind: 'remove-last' }
  | { readonly kind: 'break' | 'repair' | 'delete-artifact' | 'edit-artifact'; readonly stage: number }
  | { readonly kind: 'delete-source'; readonly source: number }
  | ({ readonly kind: 'edit-code' } & CodeEdit)
  /** Edited after so many events of a build, or starts of stages: whatever that build makes of it, no result may stand under a key that is not its own. */
  | { readonly kind: 'edit-in-build'; readonly jobs: number; readonly at: Moment; readonly edit: CodeEdit | SourceEdit }
  | { readonly kind: 'delete-cache' | 'delete-artifacts' }
  | { readonly kind: 'build'; readonly jobs: number; readonly failures: 'stop' | 'keep-going'; readonly cache: 'on' | 'off' }
  | { readonly kind: 'cancelled-build'; readonly jobs: number; readonly afterEvents: number }
  | { readonly kind: 'killed-build'; readonly jobs: number; readonly atWrite: number; readonly how: 'before' | 'torn' };

/** A stage may have accepted any result. */
const ANY = 'any';

const TOLD = readFileSync(fixturePath('plugins/told.mjs'), 'utf8');

const text = fc.constantFrom('a', 'b', 'ab', 'ba', '');
const index = fc.nat(20);
const codeEdit: fc.Arbitrary<CodeEdit> = fc.record({
  way: fc.constantFrom('codeMix' as const, 'partMix' as const, 'toolMix' as const),
  text,
});
const sourceEdit: fc.Arbitrary<SourceEdit> = fc.record({ source: index, text });
const mixer: fc.Arbitrary<Mixer> = fc.record({
  way: fc.oneof(
    { weight: 3, arbitrary: fc.constant('mix' as const) },
    { weight: 2, arbitrary: fc.constantFrom('codeMix' as const, 'partMix' as const, 'toolMix' as const) },
  ),
  take: fc.constantFrom(...TAKES),
  add: text,
  reads: fc.array(index, { minLength: 1, maxLength: 3 }),
});
const build: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('build' as const),
  jobs: fc.integer({ min: 1, max: 8 }),
  failures: fc.constantFrom('stop' as const, 'keep-going' as const),
  cache: fc.oneof({ weight: 5, arbitrary: fc.constant('on' as const) }, { weight: 1, arbitrary: fc.constant('off' as const) }),
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
      kind: fc.constantFrom('break' as const, 'repair' as const, 'delete-artifact' as const, 'edit-artifact' as const),
      stage: index,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete-cache' as const, 'delete-artifacts' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-source' as const), source: index }) },
  { weight: 2, arbitrary: codeEdit.map(edit => ({ kind: 'edit-code' as const, ...edit })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('edit-in-build' as const),
      jobs: fc.integer({ min: 1, max: 8 }),
      at: fc.oneof(
        fc.record({ event: fc.constant('any' as const), count: fc.nat(30) }),
        fc.record({ event: fc.constant('stage-started' as const), count: fc.nat(5) }),
      ),
      edit: fc.oneof({ weight: 2, arbitrary: codeEdit }, { weight: 1, arbitrary: sourceEdit }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('killed-build' as const),
      jobs: fc.integer({ min: 1, max: 8 }),
      atWrite: fc.integer({ min: 1, max: 150 }),
      how: fc.constantFrom('before' as const, 'torn' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('cancelled-build' as const), jobs: fc.integer({ min: 1, max: 8 }), afterEvents: fc.nat(12) }),
  },
);

/** A build that was cancelled may have put another result in place of the accepted one, and not have said so yet. */
const cancelledAfter = (afterEvents: number): [{ mixers: Mixer[]; steps: Step[] }] => {
  const reader: Mixer = { way: 'mix', take: 'all', add: '', reads: [0] };
  const built: Step = { kind: 'build', jobs: 2, failures: 'stop', cache: 'on' };
  const edited = (text: string): Step => ({ kind: 'edit', source: 0, text });
  const cancelled: Step = { kind: 'cancelled-build', jobs: 2, afterEvents };
  return [{ mixers: [reader, { ...reader, reads: [3] }], steps: [built, edited('b'), cancelled, edited('a'), built, built] }];
};

/** Edited when the run has begun and has not read it yet: what it makes belongs to no key, so that the old text must not bring it back. */
const editedAsItRuns = (way: CodeWay): [{ mixers: Mixer[]; steps: Step[] }] => {
  const reader: Mixer = { way, take: 'all', add: '', reads: [0] };
  const built: Step = { kind: 'build', jobs: 2, failures: 'stop', cache: 'on' };
  const during: Step = { kind: 'edit-in-build', jobs: 2, at: { event: 'stage-started', count: 0 }, edit: { way, text: 'b' } };
  return [{ mixers: [reader, { ...reader, reads: [3] }], steps: [during, built, { kind: 'edit-code', way, text: '' }, built] }];
};

/**
 * Runs `runs` random histories. A failing one is made smaller and printed with its seed and path: TANREN_SEED=SEED plays all of them again,
 * TANREN_SEED=SEED/PATH that one alone.
 */
export async function checkRandomBuilds(runs: number): Promise<void> {
  const history = fc.record({
    mixers: fc.array(mixer, { minLength: 2, maxLength: 7 }),
    steps: fc.array(step, { minLength: 4, maxLength: 16 }),
  });
  const [given, path] = process.env.TANREN_SEED?.split('/') ?? [];
  const seed = given === undefined ? Date.now() & 0x7fffffff : Number(given);
  let failures = 0;
  const property = fc.asyncProperty(history, async ({ mixers, steps }) => {
    const play = new Play(mixers);
    try {
      for (const one of steps) await play.take(one);
      // Whatever happened: fixed and built, everything is right; built again, nothing is to do.
      for (let i = 0; i < play.mixers.length; i++) await play.take({ kind: 'repair', stage: i });
      for (let i = 0; i < SOURCES.length; i++) await play.take({ kind: 'edit', source: i, text: 'ab' });
      await play.take({ kind: 'build', jobs: 2, failures: 'stop', cache: 'on' });
      await play.take({ kind: 'build', jobs: 2, failures: 'stop', cache: 'on' });
    } catch (error) {
      // At once: whoever is impatient stops the test while a smaller history is looked for.
      if (failures++ === 0) process.stderr.write(`seed ${seed}: ${String(error)}\n  ${JSON.stringify({ mixers, steps })}\n`);
      throw error;
    } finally {
      play.world.remove();
    }
  });
  await fc.assert(property, {
    numRuns: runs,
    examples: [...[1, 2, 3, 4, 5].map(cancelledAfter), ...(['codeMix', 'partMix', 'toolMix'] as const).map(editedAsItRuns)],
    seed,
    // Ends the search for a smaller failing history; a slow machine plays all of the given ones in this time.
    interruptAfterTimeLimit: Math.max(240_000, runs * 12_000),
    markInterruptAsFailure: true,
    ...(path === undefined ? {} : { path }),
  });
}

/** What a stage must come to, and what it then holds. */
interface Expectation {
  readonly allowed: readonly string[];
  readonly key: string;
  readonly value: string | undefined;
}

/** What the engine should know after what happened so far. */
class Play {
  readonly world: World = givenWorld({}, { x0: 'a', x1: 'b', x2: '' });
  readonly mixers: Mixer[];
  private readonly sources: (string | undefined)[] = ['a', 'b', ''];
  private readonly broken = new Set<number>();
  /** Actions with a result in the cache, and those of which an unfinished build may have left one. */
  private readonly known = new Set<string>();
  private readonly maybe = new Set<string>();
  /** The keys that may be a stage's accepted one: one, or after unfinished builds several, or none. */
  private readonly accepted = new Map<number, ReadonlySet<string | undefined>>();
  private caches = 0;
  /** What each way adds. */
  private readonly texts: Record<CodeWay, string> = { codeMix: '', partMix: '', toolMix: '' };
  /** Something was edited while a build ran: any mixture of before and after may have a result. */
  private mixed = false;

  constructor(mixers: readonly Mixer[]) {
    this.mixers = [...mixers];
    this.writeStages();
    for (const way of ['codeMix', 'partMix', 'toolMix'] as const) this.editCode({ way, text: '' });
    for (let i = 0; i < 20; i++) writeFileSync(this.whole(i), '');
  }

  async take(step: Step): Promise<void> {
    const stage = 'stage' in step ? step.stage % this.mixers.length : 0;
    switch (step.kind) {
      case 'edit': {
        this.editSource(step);
        return;
      }
      case 'edit-code':
        return this.editCode(step);
      case 'edit-in-build':
        return this.editInBuild(step);
      case 'delete-source': {
        const source = step.source % SOURCES.length;
        this.sources[source] = undefined;
        return rmSync(this.world.path(SOURCES[source] ?? ''), { force: true });
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
      case 'repair':
        this.broken.delete(stage);
        return writeFileSync(this.whole(stage), '');
      case 'delete-artifact':
        return rmSync(this.artifact(stage), { force: true });
      case 'edit-artifact':
        return existsSync(this.artifact(stage)) ? writeFileSync(this.artifact(stage), 'forged') : undefined;
      case 'delete-artifacts':
        return rmSync(this.world.path('artifacts'), { recursive: true, force: true });
      case 'delete-cache':
        rmSync(this.world.path('cache'), { recursive: true, force: true });
        for (const set of [this.known, this.maybe, this.accepted]) set.clear();
        this.mixed = false;
        return;
      case 'build':
        return step.cache === 'on' ? this.build(step) : this.buildWithoutCache(step);
      case 'cancelled-build':
        return this.cancelledBuild(step.jobs, step.afterEvents);
      case 'killed-build':
        return this.killedBuild(step.jobs, step.atWrite, step.how);
    }
  }

  private async build({ jobs, failures }: { readonly jobs: number; readonly failures: 'stop' | 'keep-going' }): Promise<void> {
    const expected = this.expectStages();
    const foreseen = await examineStages(await this.world.plan(), { targets: 'all', force: 'never' }, this.world.ports());
    const { outcomes } = await this.world.build({ jobs, failures });
    checkPredictions(foreseen, outcomes, failures);
    this.check(expected, outcomes, failures);
    for (const [i, { key }] of expected.entries()) {
      if (isWithResult(outcomes[`s${i}`])) this.noteResult(i, key);
    }
  }

  /** In a new cache that is thrown away: everything runs, what is published is right, and the cache proper does not know of it. */
  private async buildWithoutCache({ jobs, failures }: { readonly jobs: number; readonly failures: 'stop' | 'keep-going' }): Promise<void> {
    const expected = this.expectStages({ cache: 'off' });
    const cacheFolder = this.world.path(`other-cache-${this.caches++}`);
    const { outcomes } = await this.world.build({ jobs, failures, cacheFolder });
    this.check(expected, outcomes, failures);
  }

  private check(expected: readonly Expectation[], outcomes: Readonly<Record<string, string>>, failures: 'stop' | 'keep-going'): void {
    const stopped = failures === 'stop' && Object.values(outcomes).includes('failed');
    const ran = this.takeTrace();
    for (const [i, { allowed, value }] of expected.entries()) {
      const outcome = outcomes[`s${i}`] ?? 'missing';
      // A build that stops at a failure starts nothing more: which stages it had not come to depends on how fast the others were.
      if (!allowed.includes(outcome) && !(stopped && outcome === 'skipped')) {
        throw new Error(`stage s${i} was ${outcome}, not ${allowed.join(' or ')}`);
      }
      const runs = ran.filter(name => name === `s${i}`).length;
      if (runs !== (outcome === 'executed' ? 1 : 0)) throw new Error(`stage s${i} was ${outcome}, and ran ${runs} times to its end`);
      if (!isWithResult(outcome)) continue;
      const found = this.standing(i);
      if (found !== value) throw new Error(`stage s${i} holds "${found}", not "${value}"`);
    }
  }

  private expectStages({ cache }: { readonly cache: 'on' | 'off' } = { cache: 'on' }): readonly Expectation[] {
    const values = new Map<number, string>();
    return this.mixers.map((_, i) => {
      const expectation = this.expectStage(i, values, cache);
      if (expectation.value !== undefined) values.set(i, expectation.value);
      return expectation;
    });
  }

  /** The rules: what the stage must do, where all before it did what they must. */
  private expectStage(i: number, values: ReadonlyMap<number, string>, cache: 'on' | 'off'): Expectation {
    const reads = this.inputsOf(i);
    if (reads.some(read => read >= 3 && !values.has(read - 3))) return { allowed: ['skipped'], key: '', value: undefined };
    const inputs = reads.map(read => (read < 3 ? this.sources[read] : values.get(read - 3)));
    if (inputs.includes(undefined)) return { allowed: ['failed'], key: '', value: undefined };
    const { way, take, add } = this.mixerAt(i);
    const more = way === 'mix' ? '' : this.texts[way];
    const joined = inputs.join('+') + add + more;
    const key = JSON.stringify([i, way, take, add, more, inputs]);
    const value = take === 'all' ? joined : take === 'first' ? joined.slice(0, 1) : String(joined.length % 2);
    // Where an unfinished build leaves it open whether a broken stage has a result, what follows is open too: it is fixed, so that it is not.
    if (cache === 'on' && this.mayBeKnown(key) && this.broken.delete(i)) writeFileSync(this.whole(i), '');
    const runs = this.broken.has(i) ? 'failed' : 'executed';
    const allowed = cache === 'off' ? [runs] : this.allowedOutcomes(i, { key, value, runs });
    return { allowed, key, value: allowed.includes('failed') ? undefined : value };
  }

  private allowedOutcomes(
    i: number,
    { key, value, runs }: { readonly key: string; readonly value: string; readonly runs: 'failed' | 'executed' },
  ): readonly string[] {
    if (this.known.has(key)) return this.withoutRun(i, key, value);
    return this.mayBeKnown(key) ? [...this.withoutRun(i, key, value), runs] : [runs];
  }

  private mayBeKnown(key: string): boolean {
    return this.maybe.has(key) || (this.mixed && !this.known.has(key));
  }

  /** A result that is known: in place, where it is the accepted one and stands there; else restored. */
  private withoutRun(i: number, key: string, value: string): readonly string[] {
    const accepted = this.accepted.get(i) ?? new Set();
    if (accepted.has(ANY)) return ['up-to-date', 'restored'];
    if (!accepted.has(key) || this.standing(i) !== value) return ['restored'];
    return accepted.size > 1 ? ['up-to-date', 'restored'] : ['up-to-date'];
  }

  private noteResult(i: number, key: string): void {
    this.known.add(key);
    this.maybe.delete(key);
    this.accepted.set(i, new Set([key]));
  }

  /** It may have come as far as to keep, publish and accept any of the results that it was to make. */
  private noteUnfinished(expected: readonly Expectation[]): void {
    for (const [i, { key }] of expected.entries()) {
      if (key === '') continue;
      if (!this.known.has(key)) this.maybe.add(key);
      this.accepted.set(i, new Set([...(this.accepted.get(i) ?? [undefined]), key]));
    }
    this.takeTrace();
  }

  /** Whatever it came to, nothing wrong may stay: the builds after it say so. */
  private async cancelledBuild(jobs: number, afterEvents: number): Promise<void> {
    const expected = this.expectStages();
    const controller = new AbortController();
    let events = 0;
    const emit = (_event: BuildEvent): void => {
      if (events++ === afterEvents) controller.abort('SIGINT');
    };
    await this.world.build({ jobs }, { emit, signal: controller.signal });
    this.noteUnfinished(expected);
  }

  private editSource({ source, text: content }: SourceEdit): void {
    const at = source % SOURCES.length;
    this.sources[at] = content;
    this.world.write(SOURCES[at] ?? '', content);
  }

  private editCode({ way, text: said }: CodeEdit): void {
    this.texts[way] = said;
    if (way === 'codeMix') this.world.write('plugins/said.mjs', `export const said = '${said}';\n`);
    else if (way === 'partMix') this.world.write('plugins/told.mjs', TOLD.replace("const text = '';", `const text = '${said}';`));
    else this.install(`#!/bin/sh\nprintf %s '${said}'\n`);
  }

  /** As programs are installed: a new file takes the name. */
  private install(program: string): void {
    this.world.write('program.new', program);
    chmodSync(this.world.path('program.new'), 0o755);
    renameSync(this.world.path('program.new'), this.world.path('program'));
  }

  private async editInBuild({ jobs, at, edit }: Extract<Step, { readonly kind: 'edit-in-build' }>): Promise<void> {
    // So that what is broken stays told apart from what an edit has made to fail.
    for (const stage of this.broken) writeFileSync(this.whole(stage), '');
    this.broken.clear();
    let events = 0;
    const change = (): void => ('way' in edit ? this.editCode(edit) : this.editSource(edit));
    const emit = ({ kind }: BuildEvent): void => {
      if ((at.event === 'any' || at.event === kind) && events++ === at.count) change();
    };
    await this.world.build({ jobs, failures: 'keep-going' }, { emit });
    if (events <= at.count) change();
    this.mixed = true;
    for (const i of this.mixers.keys()) this.accepted.set(i, new Set([ANY]));
    this.takeTrace();
  }

  private killedBuild(jobs: number, atWrite: number, how: 'before' | 'torn'): void {
    const expected = this.expectStages();
    const { folder, stages } = this.world;
    const preload = join(DIST, 'test/support/die-at-write.js');
    const driver = join(DIST, 'test/support/engine-driver.js');
    spawnSync(process.execPath, ['--import', preload, driver, folder, JSON.stringify(stages), `${jobs}`], {
      env: { ...process.env, DIE_AT_WRITE: `${atWrite}`, DIE_HOW: how },
      timeout: 60_000,
    });
    this.noteUnfinished(expected);
  }

  private writeStages(): void {
    const entries = this.mixers.map(({ way, take, add }, i): [string, StageSpec] => {
      const texts = this.inputsOf(i).map((read, entry) => [`e${entry}`, read < 3 ? (SOURCES[read] ?? '') : `s${read - 3}.text`]);
      return [
        `s${i}`,
        {
          uses: way,
          params: {
            ...(way === 'toolMix' ? { tool: this.world.path('program') } : {}),
            take,
            add,
            unless: this.whole(i),
            trace: this.world.path('trace'),
            name: `s${i}`,
          },
          inputs: { texts: Object.fromEntries(texts) },
        },
      ];
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

  /** What stands under artifacts/ for a stage. */
  private standing(i: number): string | undefined {
    return existsSync(this.artifact(i)) ? readFileSync(this.artifact(i), 'utf8') : undefined;
  }

  /** The stages that have run to their end since this was asked last. */
  private takeTrace(): readonly string[] {
    const path = this.world.path('trace');
    const names = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    rmSync(path, { force: true });
    return names;
  }
}

function isWithResult(outcome: string | undefined): boolean {
  return outcome === 'up-to-date' || outcome === 'restored' || outcome === 'executed';
}
