/** In which ways can a model be run on an image's rows? Each way is a variant: opened once, timed often. */
import type { NamedTensors } from '../../src/runtime/model-inputs.js';
import type { Runner, RunnerSession } from '../../src/runtime/runner.js';
import type { SessionOptions } from '../../src/runtime/session.js';
import { sliceRows } from '../../src/tensor/rows.js';
import type { PartFeeds } from './feeds.js';
import type { BenchParams } from './params.js';

/**
 * whole: the model as it is, its batch fixed. one-batch: all rows of an image at once. fixed: in batches of so many, the last filled with zeros; a batch of 1
 * is one by one. parallel: the rows split evenly between sessions that run at the same time.
 */
export type Strategy =
  | { readonly kind: 'whole' | 'one-batch' }
  | { readonly kind: 'fixed'; readonly batch: number }
  | { readonly kind: 'parallel'; readonly sessions: number };

/** One image's work. Milliseconds by the clock here, and, where the models run elsewhere, the sum of the runs by the clock there. */
export interface Timing {
  readonly hereMs: number;
  readonly deviceMs: number | undefined;
}

export interface Variant {
  readonly strategy: Strategy;
  /** Index into the part's row counts; undefined for a fixed batch. */
  readonly count: number | undefined;
  /** Runs of the model, and rows of zeros among what they compute. */
  readonly calls: number;
  readonly padded: number;
  run(): Promise<Timing>;
}

export interface OpenedModel {
  readonly variants: readonly Variant[];
  close(): Promise<void>;
}

type Settings = Pick<BenchParams, 'batches' | 'sessions' | 'runner'>;

/** Opens as many sessions of `path` as the variants need. @throws RuntimeError `model-load`. */
export async function openVariants(
  runner: Runner,
  path: string,
  feeds: PartFeeds,
  settings: Settings,
  options: SessionOptions,
): Promise<OpenedModel> {
  const parallel = settings.runner === 'cpu' && feeds.counts !== undefined && settings.sessions > 1 ? settings.sessions : 1;
  const clock = runner.identity === undefined ? 'here' : 'device';
  const sessions: RunnerSession[] = [];
  for (let i = 0; i < parallel; i++) sessions.push(await runner.open(path, options));
  const [session] = sessions;
  if (session === undefined) return { variants: [], close: async () => undefined };
  const variants: Variant[] = [];
  if (feeds.counts === undefined) variants.push(variantOf({ kind: 'whole' }, undefined, [[session, feeds.feeds()]], 0, clock));
  for (const [index, { rows }] of (feeds.counts ?? []).entries()) {
    const all = feeds.feeds(rows);
    variants.push(variantOf({ kind: 'one-batch' }, index, [[session, all]], 0, clock));
    for (const batch of settings.batches) {
      const calls = Math.ceil(rows / batch);
      const runs = Array.from({ length: calls }, (_, call) => [session, cut(all, call * batch, batch)] as const);
      variants.push(variantOf({ kind: 'fixed', batch }, index, runs, calls * batch - rows, clock));
    }
    if (parallel > 1) variants.push(parallelVariant(sessions, all, rows, index));
  }
  return {
    variants,
    async close() {
      for (const one of sessions) await one.close();
    },
  };
}

/** Whose clock counts beside the one here. */
type Clock = 'here' | 'device';

type Run = readonly [RunnerSession, NamedTensors];

/** The runs one after the other. */
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

function parallelVariant(sessions: readonly RunnerSession[], all: NamedTensors, rows: number, count: number): Variant {
  const share = Math.ceil(rows / sessions.length);
  const runs = sessions.flatMap((session, i): Run[] => {
    const own = Math.min(share, rows - i * share);
    return own > 0 ? [[session, cut(all, i * share, own)]] : [];
  });
  return {
    strategy: { kind: 'parallel', sessions: sessions.length },
    count,
    calls: runs.length,
    padded: 0,
    async run() {
      const started = performance.now();
      await Promise.all(runs.map(([session, feeds]) => session.run(feeds)));
      return { hereMs: performance.now() - started, deviceMs: undefined };
    },
  };
}

function cut(feeds: NamedTensors, start: number, count: number): NamedTensors {
  return Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, sliceRows(tensor, start, count)]));
}
