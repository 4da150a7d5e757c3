/** A stage's path to its result when another stage or checkout may be running the same action: check, take a turn, check again, and run. */

import type { StageEnd } from '../model/stage-end.js';
import type { Turn } from '../store/lock/turns.js';
import type { Approach, StageNeeds } from './build-stage.js';
import { approach, joinRun, runStage } from './build-stage.js';

/** Another stage or checkout runs the action. */
export type OtherTurn = Extract<Turn, { readonly kind: 'other' }>;

export function isOtherTurn(end: StageEnd | OtherTurn): end is OtherTurn {
  return 'over' in end;
}

/** @param keepTurn receives the function that ends the turn. It must be called when the run has ended, which may be after this function returns. */
export async function runInTurn(needs: StageNeeds, keepTurn: (end: () => Promise<void>) => void): Promise<StageEnd | OtherTurn> {
  const look = await approach(needs);
  if (look.kind !== 'run' || needs.forced) return follow(needs, look);
  const turn = await needs.room.turns.take(look.pinned.key);
  if (turn.kind === 'other') return turn;
  keepTurn(turn.end);
  return follow(needs, turn.kind === 'first' ? await approach(needs) : look);
}

async function follow(needs: StageNeeds, look: Approach): Promise<StageEnd> {
  if (look.kind === 'ended') return look.end;
  if (look.kind === 'run') return runStage(needs, look.pinned, look.reasons);
  return (await joinRun(needs, look.run)) ?? runStage(needs, look.run.pinned, []);
}
