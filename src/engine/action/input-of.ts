/** Lookup of inputs by their manifest labels ("inputs.model", "inputs.images.val"), and their names for users. */

import type { InputRef, PlannedStage } from '../model/plan.js';
import type { Change } from './changes.js';
import { describeChange } from './changes.js';

/** Returns the source of the input in the current plan; undefined if the label names no input. */
export function inputOf(stage: Pick<PlannedStage, 'inputs'>, label: string): InputRef | undefined {
  if (!label.startsWith('inputs.')) return undefined;
  const name = label.slice('inputs.'.length);
  for (const [port, binding] of Object.entries(stage.inputs)) {
    if (binding.kind !== 'record') {
      if (name === port) return binding;
    } else if (name.startsWith(`${port}.`)) return binding.entries[name.slice(port.length + 1)];
  }
  return undefined;
}

/** Returns "source notes.txt" or "shout.text", as users write it in the pipeline file. */
export function nameOfInput(ref: InputRef): string {
  return ref.kind === 'source' ? `source ${ref.path}` : `${ref.stage}.${ref.port}`;
}

/** Describes a change like `describeChange`, but names inputs by their sources. */
export function describeChangeOf(stage: Pick<PlannedStage, 'inputs'>, change: Change): string {
  const ref = change.before === undefined || change.after === undefined ? undefined : inputOf(stage, change.label);
  return ref === undefined ? describeChange(change) : `${nameOfInput(ref)} changed`;
}
