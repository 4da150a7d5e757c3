/** Explains why stages would run: for each stage the changes, starting at the root cause, and the path from there to the stage. */
import { getDefined } from '../../../base/invariant.js';
import type { JsonObject } from '../../../base/json.js';
import type { KnownResult } from '../../model/known-result.js';
import type { Plan, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { createRecordIndex } from '../../store/record-index.js';
import type { KnownDevice } from '../../store/state.js';
import type { StageStatus } from '../status/stage-status.js';
import { examineIn, openForReading, type StatusOptions } from '../status/status.js';
import { type Cause, describeCause } from './cause.js';
import { findCauses, pathOf } from './find-causes.js';

export interface Explanation {
  readonly stage: StageId;
  /** Includes the changes since the last accepted result, if there is one. */
  readonly status: StageStatus;
  /** 'never': no result of this stage was ever accepted (or cache/ was deleted). */
  readonly lastBuilt: 'before' | 'never';
  /** The current manifest; absent if an input is not known yet. */
  readonly manifest: JsonObject | undefined;
  /** Of a restorable stage: the result in the cache. */
  readonly cached?: KnownResult | undefined;
  /** What is known of the device that the stage measures on. */
  readonly device: KnownDevice | undefined;
  readonly causes: readonly RootCause[];
}

export interface RootCause {
  readonly cause: Cause;
  readonly text: string;
  /** The stages from the cause to the explained stage, which is the last. */
  readonly path: readonly StageId[];
}

export type ExplainOptions = Partial<Omit<StatusOptions, 'targets'>>;

/** @returns an explanation of each target and of all their dependencies, in the order of the plan. */
export async function explainStages(
  plan: Plan,
  targets: 'all' | readonly StageId[],
  ports: EnginePorts,
  { force = 'never', records = createRecordIndex(), ...options }: ExplainOptions = {},
): Promise<ReadonlyMap<StageId, Explanation>> {
  const session = openForReading(plan, options, ports);
  const examined = await examineIn(session, { ...options, records, targets, force });
  const causes = await findCauses(session, examined, records);
  return new Map(
    [...examined].map(([stage, { status, manifest, accepted, cached, device }]) => {
      const trails = causes.get(stage) ?? [];
      const roots = trails.map(trail => ({
        cause: trail.cause,
        text: describeCause(trail.cause),
        // Computed on access, because most long paths are never read.
        get path() {
          return pathOf(trail);
        },
      }));
      const lastBuilt = accepted === undefined ? 'never' : 'before';
      return [stage, { stage, status, lastBuilt, manifest, cached, device, causes: roots }];
    }),
  );
}

export async function explainStage(plan: Plan, stage: StageId, ports: EnginePorts, options: ExplainOptions = {}): Promise<Explanation> {
  return getDefined((await explainStages(plan, [stage], ports, options)).get(stage), stage);
}
