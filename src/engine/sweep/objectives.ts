/** What a sweep looks for: figures to maximize or to minimize. */
import { findClosest } from '../../base/text/did-you-mean.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { StageId } from '../model/plan.js';

export interface Goal {
  /** A metric ("bbox.AP", "evaluate-int8.bbox.AP"), or "size". */
  readonly metric: string;
  readonly goal: 'maximize' | 'minimize';
}

export interface Objective extends Goal {
  /** The key of a row's figures, or "size". */
  readonly key: string;
}

/** The size of the models of a row. */
export const SIZE = 'size';

/** In the order in which rows are sorted. Those that a pipeline does not have are left out. */
const USUAL: readonly Goal[] = [
  { metric: 'bbox.AP', goal: 'maximize' },
  { metric: 'segm.AP', goal: 'maximize' },
  { metric: 'top1', goal: 'maximize' },
  { metric: 'total.npuMacShare', goal: 'maximize' },
  { metric: 'npuMacShare', goal: 'maximize' },
  { metric: 'total.estimatedMs', goal: 'minimize' },
  { metric: 'estimatedMs', goal: 'minimize' },
  { metric: SIZE, goal: 'minimize' },
];

/** Largest number of metrics in one message. */
const MOST_LISTED = 20;

export interface Measured {
  /** The keys of the figures of all rows. */
  readonly keys: ReadonlySet<string>;
  readonly stages: readonly StageId[];
  readonly hasSize: boolean;
  /** Whether a stage depends on another of `stages` that also has the metric. */
  readonly isAfter: (stage: StageId, others: ReadonlySet<StageId>) => boolean;
}

/** @param given an empty list stands for the usual goals. A metric that no row has, and an ambiguous one, become diagnostics. */
export function findObjectives(given: readonly Goal[], measured: Measured, diagnostics: DiagnosticSink): readonly Objective[] {
  if (given.length > 0) return given.flatMap(goal => resolveGoal(goal, measured, diagnostics));
  return USUAL.flatMap(goal => {
    const keys = keysOf(goal.metric, measured);
    return keys.map(key => ({ ...goal, metric: keys.length === 1 ? goal.metric : key, key }));
  });
}

function resolveGoal(goal: Goal, measured: Measured, diagnostics: DiagnosticSink): readonly Objective[] {
  const keys = keysOf(goal.metric, measured);
  const [key] = keys;
  if (key !== undefined && keys.length === 1) return [{ ...goal, key }];
  if (key === undefined) {
    const closest = findClosest(goal.metric, [...measured.keys, ...shortNames(measured)]);
    const help = closest === undefined ? `there is ${listFirst([...shortNames(measured)])}` : `did you mean "${closest}"?`;
    diagnostics.error('unknown-metric', undefined, `no configuration has a metric "${goal.metric}"`, help);
  } else diagnostics.error('ambiguous-metric', undefined, `several stages have a metric "${goal.metric}"`, `write ${keys.join(' or ')}`);
  return [];
}

/** Headlines first: what `tune` and `sweep` compare by themselves, and differences of AP. */
function listFirst(names: readonly string[]): string {
  const isHeadline = (name: string): boolean => USUAL.some(({ metric }) => name === metric || name === `delta.${metric}`);
  const sorted = [...names].sort((a, b) => Number(isHeadline(b)) - Number(isHeadline(a)));
  const more = sorted.length > MOST_LISTED ? `, and ${sorted.length - MOST_LISTED} more` : '';
  return `${sorted.slice(0, MOST_LISTED).join(', ')}${more}`;
}

/** Of several stages that follow one another, the last one has the metric that counts. */
function keysOf(metric: string, { keys, stages, hasSize, isAfter }: Measured): readonly string[] {
  if (metric === SIZE) return hasSize ? [SIZE] : [];
  if (keys.has(metric)) return [metric];
  const owners = new Set(stages.filter(stage => keys.has(`${stage}.${metric}`)));
  const followed = new Set([...owners].filter(stage => [...owners].some(other => other !== stage && isAfter(other, new Set([stage])))));
  return [...owners].filter(stage => !followed.has(stage)).map(stage => `${stage}.${metric}`);
}

function shortNames({ keys, stages }: Measured): ReadonlySet<string> {
  return new Set(
    [...keys].map(key => {
      const stage = stages.find(one => key.startsWith(`${one}.`));
      return stage === undefined ? key : key.slice(stage.length + 1);
    }),
  );
}
