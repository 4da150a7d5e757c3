/** Random graphs on several machines: whatever results travel through, and whatever goes wrong on the way, the bytes are those of a build alone. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { seededRandom } from '../../../src/stage/random.js';
import type { StageSpec } from '../plan-of.js';
import type { Built, World } from '../world.js';
import { type Fault, startGrpcProxy } from './grpc-proxy.js';
import { type HttpFault, startHttpProxy } from './http-proxy.js';
import { QUICK_CONNECTION } from './quick-connection.js';
import { artifactsOf, createRig, type Rig } from './remote-rig.js';
import { openPlace, PLACE_NAMES, type Place } from './result-places.js';

interface Stage {
  readonly uses: 'mix' | 'codeMix' | 'partMix';
  readonly take: 'all' | 'first' | 'parity';
  readonly add: string;
  /** Sources first, then earlier stages, modulo what there is. */
  readonly reads: readonly number[];
}

interface Case {
  readonly stages: readonly Stage[];
  /** What changes between the machine that gives and those that take. */
  readonly edit: { readonly source: number; readonly text: string; readonly stage: number; readonly add: string };
  readonly jobs: number;
  readonly seed: string;
}

const SOURCES = ['x0', 'x1', 'x2'];
const text = fc.constantFrom('a', 'b', 'ab', '');

const cases: fc.Arbitrary<Case> = fc.record({
  stages: fc.array(
    fc.record({
      uses: fc.constantFrom('mix' as const, 'codeMix' as const, 'partMix' as const),
      take: fc.constantFrom('all' as const, 'first' as const, 'parity' as const),
      add: text,
      reads: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 2, maxLength: 7 },
  ),
  edit: fc.record({ source: fc.nat(2), text, stage: fc.nat(20), add: text }),
  jobs: fc.integer({ min: 1, max: 8 }),
  seed: fc.string({ minLength: 4, maxLength: 8 }),
});

/** Waits are short: a server that hangs must not make the test slow. */
const IMPATIENT = { ...QUICK_CONNECTION, patience: { ...QUICK_CONNECTION.patience, callMs: 700, longestWaitMs: 50 } };

/** Plays random cases; the seed of a failure is printed by fast-check, and TANREN_SEED plays it again. */
export async function checkTransparency(runs: number): Promise<void> {
  const seed = Number(process.env.TANREN_SEED ?? Date.now() & 0x7fffffff);
  await fc.assert(fc.asyncProperty(cases, playCase), { numRuns: runs, seed, endOnFailure: true });
}

async function playCase(one: Case): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-transparency-'));
  const rig = createRig(IMPATIENT);
  const places: Place[] = [];
  try {
    const play = new Play(rig, one, folder);
    const [bytes, executed] = await play.alone();
    for (const name of PLACE_NAMES) {
      const inner = mkdtempSync(join(folder, 'place-'));
      const place = await openPlace(name, rig, inner);
      places.push(place);
      await place.give(play.machine('before'));
      const world = play.machine('after');
      const built = await place.take(world, { jobs: one.jobs });
      expectEqual(`${name}: bytes`, artifactsOf(world), bytes);
      expectEqual(`${name}: executed stages`, executedIn(built), executed);
      expectEqual(`${name}: warnings`, built.warnings, []);
      if (place.address !== undefined) await play.withFaults(place.address, bytes, executed);
    }
  } finally {
    rig.removeAll();
    for (const place of places) await place.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Play {
  private readonly rig: Rig;
  private readonly one: Case;
  private readonly folder: string;
  /** Stages that ran in rounds with faults, whose results may have been sent. */
  private readonly sent = new Set<string>();

  constructor(rig: Rig, one: Case, folder: string) {
    this.rig = rig;
    this.one = one;
    this.folder = folder;
    writeFileSync(join(folder, 'there'), '');
  }

  machine(when: 'before' | 'after'): World {
    const { stages, edit } = this.one;
    const world = this.rig.checkout(Object.fromEntries(stages.map((stage, i) => [`s${i}`, this.specOf(stage, i, when)])));
    for (const [i, name] of SOURCES.entries()) world.write(name, when === 'after' && i === edit.source ? edit.text : name);
    return world;
  }

  private specOf({ uses, take, add, reads }: Stage, i: number, when: 'before' | 'after'): StageSpec {
    const { stage, add: other } = this.one.edit;
    const edited = when === 'after' && i === stage % this.one.stages.length ? other : add;
    const texts = Object.fromEntries(
      reads.map((read, at) => {
        const index = read % (SOURCES.length + i);
        return [`t${at}`, SOURCES[index] ?? `s${index - SOURCES.length}.text`];
      }),
    );
    const params = { name: `s${i}`, take, add: edited, unless: join(this.folder, 'there'), trace: join(this.folder, 'trace') };
    return { uses, params, inputs: { texts } };
  }

  /** The bytes without any cache, and the stages that a machine runs whose own cache has the results from before. */
  async alone(): Promise<readonly [bytes: Readonly<Record<string, string>>, executed: readonly string[]]> {
    const fresh = this.machine('after');
    await fresh.build();
    const before = this.machine('before');
    await before.build();
    const after = this.machine('after');
    before.stages = after.stages;
    for (const name of SOURCES) before.write(name, after.read(name));
    const built = await before.build({ jobs: this.one.jobs });
    expectEqual('local: bytes', artifactsOf(before), artifactsOf(fresh));
    return [artifactsOf(fresh), executedIn(built)];
  }

  /** Faults at random messages: none makes a build wrong or fails it, and no stage runs less than it must. */
  async withFaults(address: string, bytes: Readonly<Record<string, string>>, executed: readonly string[]): Promise<void> {
    const port = Number(/:(\d+)/.exec(address.slice('http://'.length))?.[1]);
    const random = seededRandom(this.one.seed, address.startsWith('grpc') ? 'grpc' : 'http');
    for (const often of [0.05, 0.3]) {
      const proxy = address.startsWith('grpc')
        ? await startGrpcProxy(port, ({ bytes: sent, direction }) => (random() < often ? grpcFault(random, sent, direction) : undefined))
        : await startHttpProxy(port, () => (random() < often ? httpFault(random) : undefined));
      try {
        const world = this.machine('after');
        const use = { write: random() < 0.5, download: random() < 0.5 ? ('none' as const) : ('all' as const) };
        const built = await this.rig.build(world, address.replace(String(port), String(proxy.port)), use, { jobs: this.one.jobs });
        expectEqual(`${address} with faults: conclusion`, built.report.conclusion, 'built');
        // Results that stay remote are not published; what is published is right.
        const found = use.download === 'all' ? artifactsOf(world) : { ...bytes, ...publishedIn(world) };
        expectEqual(`${address} with faults, download ${use.download}: bytes`, sorted(found), sorted(bytes));
        const ran = new Set(executedIn(built));
        expectEqual(
          `${address} with faults: stages that had to run`,
          executed.filter(stage => !ran.has(stage)),
          this.sentAgain(executed, ran),
        );
        const troubles = built.report.remote?.troubles.length ?? 0;
        expectEqual('one line per trouble', built.warnings.filter(code => code === 'remote-cache-failed').length, troubles);
        expectEqual(
          'no other warnings',
          built.warnings.filter(code => code !== 'remote-cache-failed'),
          [],
        );
      } finally {
        await proxy.close();
      }
    }
  }

  /** Stages whose results an earlier round of this case has sent: they may be taken. */
  private sentAgain(executed: readonly string[], ran: ReadonlySet<string>): readonly string[] {
    const missing = executed.filter(stage => !ran.has(stage));
    const allowed = new Set(this.sent);
    for (const stage of ran) this.sent.add(stage);
    return missing.filter(stage => allowed.has(stage));
  }
}

function grpcFault(random: () => number, sent: Buffer, direction: 'to-server' | 'to-client'): Fault {
  const codes = [
    status.UNAVAILABLE,
    status.RESOURCE_EXHAUSTED,
    status.INTERNAL,
    status.NOT_FOUND,
    status.UNKNOWN,
    status.DEADLINE_EXCEEDED,
  ];
  const kind = Math.floor(random() * 10);
  if (kind === 0) return { kind: 'hang' };
  if (kind === 1) return { kind: 'delay', ms: 30 };
  if (kind < 5 && direction === 'to-client' && sent.length > 0) {
    const bytes = Buffer.from(sent);
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return { kind: 'replace', bytes: kind === 2 ? bytes.subarray(0, at) : bytes };
  }
  return { kind: 'status', code: codes[Math.floor(random() * codes.length)] ?? status.UNAVAILABLE };
}

function httpFault(random: () => number): HttpFault {
  const faults: readonly HttpFault[] = [
    { kind: 'status', code: 404 },
    { kind: 'status', code: 500 },
    { kind: 'status', code: 429, headers: { 'retry-after': '0' } },
    { kind: 'reset' },
    { kind: 'cut' },
    { kind: 'wrong-bytes' },
    { kind: 'hang' },
  ];
  return faults[Math.floor(random() * faults.length)] ?? { kind: 'reset' };
}

function publishedIn(world: World): Readonly<Record<string, string>> {
  return existsSync(world.path('artifacts')) ? artifactsOf(world) : {};
}

function sorted(texts: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
}

function executedIn({ outcomes }: Built): readonly string[] {
  return Object.entries(outcomes)
    .filter(([, outcome]) => outcome === 'executed')
    .map(([stage]) => stage);
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: found ${a}, expected ${b}`);
}
