/** The thread of `openValuesThread`: compares inner values of parts, one sample after the other. */
import { parentPort } from 'node:worker_threads';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { makeTurns } from '../../src/stage/in-turn.js';
import { settleCall } from '../../src/stage/thread-call.js';
import { CLAIMED_BEFORE, type Claim, takeClaim } from './claim.js';
import { type OpenPair, openPair } from './open-pair.js';
import type { ModelPair } from './part-models.js';

export interface ValuesOrder {
  readonly models: ModelPair;
  readonly feeds: NamedTensors;
  /** Who compares: the thread that claims it first. */
  readonly claim: Claim;
}

const opened = new Map<string, OpenPair>();

async function compare({ models, feeds, claim }: ValuesOrder) {
  if (!takeClaim(claim)) return CLAIMED_BEFORE;
  const key = JSON.stringify([models.reference, models.candidate]);
  const pair = opened.get(key) ?? (await openPair(models));
  opened.set(key, pair);
  return pair.comparer.compareAlone(feeds);
}

const inTurn = makeTurns();
parentPort?.on('message', (order: ValuesOrder) => {
  void inTurn(async () => parentPort?.postMessage(await settleCall(() => compare(order))));
});
