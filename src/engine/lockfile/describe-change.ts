/** Describes a difference from the lock file in the user's terms: the path of a source, a program, a parameter. */
import type { Change } from '../action/changes.js';
import { describeChange } from '../action/changes.js';
import type { PlannedStage } from '../model/plan.js';
import { namedInputs } from './portability.js';

/** Describes one difference between locked facts (before) and current facts (after). */
export function describeLockChange(stage: PlannedStage, change: Change): string {
  const { label, before, after } = change;
  const [group, name] = splitLabel(label);
  if (before === undefined || after === undefined) return describeChange(change);
  if (group === 'tools') return `program "${name}" differs from the locked one`;
  const ref = group === 'inputs' ? namedInputs(stage).find(([input]) => input === name)?.[1] : undefined;
  if (ref === undefined) return describeChange(change);
  if (typeof before === 'string' || typeof after === 'string') {
    const locked = typeof before === 'string' ? before : 'content that is the same on every machine';
    return `input "${name}" reads ${ref.kind === 'source' ? ref.path : `${ref.stage}.${ref.port}`}, but is locked as ${locked}`;
  }
  return ref.kind === 'source'
    ? `source ${ref.path} (input "${name}") differs from the locked content`
    : `it is locked with another ${ref.stage}.${ref.port} than ${ref.stage} is`;
}

function splitLabel(label: string): readonly [string, string] {
  const dot = label.indexOf('.');
  return dot < 0 ? [label, ''] : [label.slice(0, dot), label.slice(dot + 1)];
}
