/** Which input is meant by a label of a manifest ("inputs.model", "inputs.images.val")? */

import type { InputRef, PlannedStage } from '../model/plan.js';
import type { Change } from './changes.js';
import { describeChange } from './changes.js';

/** Where the input comes from in the plan as it is now; undefined where the label names none. */
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

/** "source notes.txt", "shout.text": what users wrote in the pipeline file. */
export function nameOfInput(ref: InputRef): string {
  return ref.kind === 'source' ? `source ${ref.path}` : `${ref.stage}.${ref.port}`;
}

/** As `describeChange`, with inputs named by where they come from. */
export function describeChangeOf(stage: Pick<PlannedStage, 'inputs'>, change: Change): string {
  const ref = change.before === undefined || change.after === undefined ? undefined : inputOf(stage, change.label);
  return ref === undefined ? describeChange(change) : `${nameOfInput(ref)} changed`;
}
