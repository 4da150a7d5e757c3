/** Variants: the ways to run a model on an image's rows. Each is opened once and timed repeatedly. */

import type { Runner, RunnerSession } from '../../src/runtime/device/runner.js';
import type { Placement } from '../../src/runtime/device/runner-identity.js';
import type { Strategy } from '../../src/runtime/measure/bench-report.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import { openSessionThreads, type SessionThreads } from '../../src/runtime/session/session-threads.js';
import type { ImageRows, PartFeeds } from './feeds.js';
import type { BenchParams } from './params.js';

/** The work for one image. Milliseconds by this machine's clock, and, if the models run elsewhere, the sum of the runs by the device's clock. */
export interface Timing {
  readonly hereMs: number;
  readonly deviceMs: number | undefined;
}

export interface Variant {
  readonly strategy: Strategy;
  /** Index into the part's row counts; undefined for a fixed batch. */
  readonly count: number | undefined;
  /** Number of model runs, and of padded rows in them. */
  readonly calls: number;
  readonly padded: number;
  run(): Promise<Timing>;
}

export interface OpenedModel {
  readonly variants: readonly Variant[];
  /** Placement of the last run: see RunnerSession. */
  placement(): Placement | undefined;
  close(): Promise<void>;
}

type Settings = Pick<BenchParams, 'batches' | 'sessions' | 'runner'>;

/** Opens the sessions of `path` that the variants need. @throws RuntimeError `model-load`. */
export async function openVariants(
  runner: Runner,
  path: string,
  feeds: PartFeeds,
  settings: Settings,
  options: SessionOptions,
): Promise<OpenedModel> {
  const clock = runner.identity === undefined ? 'here' : 'device';
  const session = await runner.open(path, options);
  const threads =
    settings.runner === 'cpu' && feeds.counts !== undefined && feeds.batch === 'free' && settings.sessions > 1
      ? await openSessionThreads(path, options, settings.sessions)
      : undefined;
  const close = async (): Promise<void> => {
    await threads?.close();
    await session.close();
  };
  try {
    return { variants: await makeVariants({ session, threads, clock }, feeds, settings), placement: () => session.placement, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Opened {
  readonly session: RunnerSession;
  readonly threads: SessionThreads | undefined;
  readonly clock: Clock;
}

async function makeVariants({ session, threads, clock }: Opened, feeds: PartFeeds, settings: Settings): Promise<readonly Variant[]> {
  if (feeds.counts === undefined) return [variantOf({ kind: 'whole' }, undefined, [[session, feeds.whole]], 0, clock)];
  const variants: Variant[] = [];
  const { batch: own } = feeds;
  for (const [index, { rows }] of feeds.counts.entries()) {
    const image = feeds.image(rows);
    if (own === 'free') variants.push(variantOf({ kind: 'one-batch' }, index, [[session, image.slice(0, rows)]], 0, clock));
    for (const batch of own === 'free' ? settings.batches : [own]) {
      const calls = Math.ceil(rows / batch);
      const runs = Array.from({ length: calls }, (_, call) => [session, image.slice(call * batch, batch)] as const);
      const strategy: Strategy = feeds.by === 'tiles' ? { kind: 'tiles', tiles: batch } : { kind: 'fixed', batch };
      variants.push(variantOf(strategy, index, runs, calls * batch - rows, clock));
    }
    if (threads !== undefined) variants.push(await parallelVariant(threads, settings.sessions, image, index));
  }
  return variants;
}

/** The clock used in addition to this machine's. */
type Clock = 'here' | 'device';

type Run = readonly [RunnerSession, NamedTensors];

/** Runs in sequence. */
function variantOf(strategy: Strategy, count: number | undefined, runs: readonly Run[], padded: number, clock: Clock): Variant {
  return {
    strategy,
    count,
    calls: runs.length,
    padded,
    async run() {
      const started = performance.now();
      let deviceMs = 0;
      for (const [session, feeds] of runs) {
        const { durationsMs } = await session.measure(feeds, { warmup: 0, repeats: 1 });
        deviceMs += durationsMs[0] ?? 0;
      }
      return { hereMs: performance.now() - started, deviceMs: clock === 'device' ? deviceMs : undefined };
    },
  };
}

async function parallelVariant(threads: SessionThreads, sessions: number, image: ImageRows, count: number): Promise<Variant> {
  const shares = shareEvenly(image.rows, sessions);
  const run = await threads.prepare(shares.map(({ start, rows }) => image.slice(start, rows)));
  return {
    strategy: { kind: 'parallel', sessions },
    count,
    calls: shares.length,
    padded: 0,
    async run() {
      const started = performance.now();
      await run();
      return { hereMs: performance.now() - started, deviceMs: undefined };
    },
  };
}

/** `rows` in at most `shares` consecutive ranges whose lengths differ by at most one; none is empty. */
export function shareEvenly(rows: number, shares: number): readonly { readonly start: number; readonly rows: number }[] {
  const used = Math.min(rows, shares);
  const startOf = (share: number): number => Math.floor((share * rows) / used);
  return Array.from({ length: used }, (_, share) => ({ start: startOf(share), rows: startOf(share + 1) - startOf(share) }));
}
