/** Why did, or would, a stage run? The difference of the last manifest and the present one, in words. */
import { getDefined } from '../base/invariant.js';
import type { JsonObject } from '../base/json.js';
import type { KnownDevice } from './cache/state-log.js';
import type { Plan, StageId } from './plan/plan.js';
import type { EnginePorts } from './ports.js';
import type { StageStatus } from './status.js';
import { examineStages } from './status.js';

export interface Explanation {
  readonly stage: StageId;
  /** With the changes since the last accepted result, where there is one. */
  readonly status: StageStatus;
  /** 'never': no result of this stage was ever accepted (or cache/ was deleted). */
  readonly lastBuilt: 'before' | 'never';
  /** The manifest as it is now; absent where an input is not known yet. */
  readonly manifest: JsonObject | undefined;
  /** What is known of the device that it measures on. */
  readonly device: KnownDevice | undefined;
}

export async function explainStage(
  plan: Plan,
  stage: StageId,
  ports: EnginePorts,
  options: { readonly cacheFolder?: string; readonly sharedCache?: string | undefined } = {},
): Promise<Explanation> {
  const examined = await examineStages(plan, { targets: [stage], force: 'never', ...options }, ports);
  const { status, manifest, accepted, device } = getDefined(examined.get(stage), stage);
  return { stage, status, lastBuilt: accepted === undefined ? 'never' : 'before', manifest, device };
}
