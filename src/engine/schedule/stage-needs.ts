/** What the build of one stage needs, and what its steps share. */

import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { measure } from '../execute/measure.js';
import type { PartService } from '../execute/parts/part-service.js';
import type { WarningCode } from '../model/events.js';
import { toFailure } from '../model/failure.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ResultRule } from './result-rule.js';
import type { RunServices } from './run-services.js';
import type { Units } from './unit-counts.js';

export interface StageNeeds {
  readonly session: Session;
  readonly stage: PlannedStage;
  readonly forced: boolean;
  readonly parts: PartService;
  /** Warnings of this stage that were already emitted. */
  readonly warned: Set<string>;
  readonly services: RunServices;
  /** Aborted when the build switches to a newer plan. Runs then continue, but nothing waits for them. */
  readonly superseded: AbortSignal;
  /** Defined only in a frozen build. */
  readonly rule: ResultRule | undefined;
  /** Whether a result of the stage may stay in the remote cache. */
  readonly leaves: boolean;
  /** 'here': no remote worker is asked, because none could run it. */
  readonly place: 'as-planned' | 'here';
  /** The units of the slot in which it runs; none before it has one. */
  readonly held: Units;
  /** Brings the inputs that stayed on a server. @returns the end of the stage if one cannot be brought. */
  readonly bringInputs: () => Promise<StageEnd | undefined>;
  /** Returns the end of each stage that this one depends on, directly or indirectly. */
  readonly endOf: (stage: StageId) => StageEnd | undefined;
}

/** Pins the stage's inputs as they are now. @throws EngineError if one cannot be pinned. */
export function pinNow({ session, stage, endOf }: StageNeeds): Promise<PinnedStage> {
  return measure(session.ports, stage.id, 'hash', () => session.pinner.pin(stage, id => endOf(id)?.accepted));
}

/** Emits each warning once, because a stage is checked again just before it runs and finds the same problems. */
export function warn({ session, stage, warned }: StageNeeds, code: WarningCode, message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  session.ports.emit({ kind: 'warning', stage: stage.id, code, message });
}

/** Converts anything thrown to a failure of the stage. */
export async function endWithFailure<T = StageEnd>(work: () => Promise<StageEnd | T>): Promise<StageEnd | T> {
  try {
    return await work();
  } catch (error) {
    return { outcome: { kind: 'failed', failure: toFailure(error) }, accepted: undefined };
  }
}
