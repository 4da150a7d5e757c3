/** The time profile of a run: critical path, slowest stages, waits for slots, and computed parts. */
import type { RunRecord, RunSpan, RunStage } from './run-record.js';

export interface Timing {
  readonly criticalPath: readonly StageTime[];
  /** Fraction of the run's time in which a stage of the critical path was active, from 0 to 1. */
  readonly criticalShare: number;
  /** Stages that ran, slowest first. */
  readonly slowest: readonly StageTime[];
  /** Waits for slots, longest first. */
  readonly waits: readonly { readonly stage: string; readonly pools: readonly string[]; readonly waitedMs: number }[];
  readonly parts: readonly PartTime[];
}

export interface StageTime {
  readonly stage: string;
  readonly outcome: RunStage['outcome'];
  /** From the first check to the end of the stage, without waits for a slot. */
  readonly durationMs: number;
  readonly waitedMs: number;
  /** Fraction of the run's time, from 0 to 1. */
  readonly share: number;
}

/** All parts with the same name in one stage. */
export interface PartTime {
  readonly stage: string;
  readonly part: string;
  readonly kept: number;
  readonly computed: number;
  readonly dropped: number;
  /** Time in which at least one of them was active. */
  readonly durationMs: number;
}

/** Shorter waits are ignored: they say nothing about pools. */
const SHORTEST_WAIT_MS = 1;

export function computeTiming(run: RunRecord): Timing {
  const times = new Map(run.stages.map(stage => [stage.stage, timeOf(stage, run.durationMs)]));
  const criticalPath = run.criticalPath.flatMap(name => times.get(name) ?? []);
  const onPath = new Set(run.criticalPath);
  const atWork = run.stages.filter(({ stage }) => onPath.has(stage)).flatMap(outerSpans);
  return {
    criticalPath,
    criticalShare: shareOf(coveredMs(atWork), run.durationMs),
    slowest: [...times.values()]
      .filter(({ outcome }) => outcome === 'executed' || outcome === 'failed')
      .sort((a, b) => b.durationMs - a.durationMs),
    waits: run.stages
      .filter(({ waitedMs = 0 }) => waitedMs >= SHORTEST_WAIT_MS)
      .map(({ stage, pools = [], waitedMs = 0 }) => ({ stage, pools, waitedMs }))
      .sort((a, b) => b.waitedMs - a.waitedMs),
    parts: run.stages.flatMap(partsOf),
  };
}

function timeOf(stage: RunStage, wholeMs: number): StageTime {
  const spans = outerSpans(stage);
  // If the timeline was too long to keep, only the duration of the run is known.
  const durationMs = spans.length === 0 ? (stage.outcome === 'executed' ? (stage.durationMs ?? 0) : 0) : coveredMs(spans);
  return { stage: stage.stage, outcome: stage.outcome, durationMs, waitedMs: stage.waitedMs ?? 0, share: shareOf(durationMs, wholeMs) };
}

function outerSpans({ spans = [] }: RunStage): readonly RunSpan[] {
  return spans.filter(({ what }) => what === 'look' || what === 'slot');
}

function partsOf({ stage, spans = [] }: RunStage): readonly PartTime[] {
  const byName = new Map<string, RunSpan[]>();
  for (const span of spans) if (span.part !== undefined) byName.set(span.part.name, [...(byName.get(span.part.name) ?? []), span]);
  return [...byName].map(([part, own]) => {
    const count = (answer: string): number => own.filter(span => span.part?.answer === answer).length;
    return { stage, part, kept: count('kept'), computed: count('computed'), dropped: count('dropped'), durationMs: coveredMs(own) };
  });
}

/** Time in which at least one span was active. */
function coveredMs(spans: readonly RunSpan[]): number {
  let covered = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { atMs, durationMs } of [...spans].sort((a, b) => a.atMs - b.atMs)) {
    const end = atMs + durationMs;
    covered += Math.max(0, end - Math.max(atMs, until));
    until = Math.max(until, end);
  }
  return covered;
}

function shareOf(partMs: number, wholeMs: number): number {
  return wholeMs <= 0 ? 0 : Math.min(1, partMs / wholeMs);
}
