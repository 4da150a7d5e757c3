/** The figures of runs that the columns of a list name: "evaluate-int8.bbox.AP", or "bbox.AP" if one stage has it. */

import type { Figure } from '../../../base/figure.js';
import { findOwn } from '../../../base/find-own.js';
import { findClosest } from '../../../base/text/did-you-mean.js';
import { EngineError } from '../../model/engine-error.js';
import type { RunRecord } from './run-record.js';

export interface Column {
  /** As it was asked for. */
  readonly name: string;
  /** The figure of a run; undefined if the run has none. */
  readonly of: (run: RunRecord) => Figure | undefined;
}

/** @param texts each the name of a metric, or several separated by commas. @throws EngineError `unknown-metric`, `ambiguous-metric`. */
export function findColumns(texts: readonly string[], runs: readonly RunRecord[]): readonly Column[] {
  const known = new Map<string, Place>();
  for (const { stages } of runs)
    for (const { stage, metrics = {} } of stages)
      for (const metric of Object.keys(metrics)) known.set(`${stage}.${metric}`, { stage, metric });
  const isKnown = (name: string): boolean => known.has(name) || [...known.values()].some(({ metric }) => metric === name);
  const names = texts.flatMap(text => (isKnown(text) ? [text] : text.split(',').map(name => name.trim())));
  return names.map(name => {
    const place = findPlace(name, known);
    return { name, of: run => figureAt(run, place) };
  });
}

interface Place {
  readonly stage: string;
  readonly metric: string;
}

function findPlace(name: string, known: ReadonlyMap<string, Place>): Place {
  const whole = known.get(name);
  if (whole !== undefined) return whole;
  const named = [...known].filter(([, { metric }]) => metric === name);
  const [first, ...others] = named;
  if (first !== undefined && others.length === 0) return first[1];
  if (first !== undefined)
    throw new EngineError('ambiguous-metric', `several stages have a metric "${name}"`, {
      help: `write ${named.map(([key]) => key).join(' or ')}`,
    });
  const closest = findClosest(name, [...known.keys(), ...[...known.values()].map(({ metric }) => metric)]);
  throw new EngineError('unknown-metric', `no run in the history has a metric "${name}"`, {
    help: closest === undefined ? 'tanren metrics shows the metrics' : `did you mean "${closest}"?`,
  });
}

function figureAt({ stages }: RunRecord, { stage, metric }: Place): Figure | undefined {
  const metrics = stages.find(one => one.stage === stage)?.metrics;
  return metrics === undefined ? undefined : findOwn(metrics, metric);
}
