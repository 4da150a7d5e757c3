/** What the trial of a compiled model's fixes needs. */
import { isJsonObject } from '../../base/json.js';
import type { Plan, PlannedStage } from '../../engine/model/plan.js';
import type { TrialOrder } from '../model/trial-view.js';
import type { ProjectState } from '../project/live-project.js';
import { findInputFile } from './input-file.js';

/** @throws RequestError `ui-bad-request`, and as `findInputFile`. */
export async function makeTrialOrder(
  plan: Plan,
  state: Pick<ProjectState, 'results' | 'cache'>,
  { stage, input }: { readonly stage: PlannedStage; readonly input: string },
): Promise<TrialOrder> {
  const { target, device, dtype, software, undocumented, largerBatch, pin } = stage.params;
  const texts = { target, device, dtype, software };
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => typeof value === 'string')) as Readonly<
    Record<string, string>
  >;
  return {
    ...given,
    model: await findInputFile(plan, state, stage.id, input),
    profile: stage.inputs.profile === undefined ? undefined : await findInputFile(plan, state, stage.id, 'profile'),
    undocumented: undocumented === 'npu' ? 'npu' : 'cpu',
    largerBatch: largerBatch === 'npu' ? 'npu' : 'cpu',
    pin: isJsonObject(pin)
      ? Object.fromEntries(Object.entries(pin).filter((one): one is [string, number] => typeof one[1] === 'number'))
      : {},
  };
}
