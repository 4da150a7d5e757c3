/** Attacks in any order, also beside a build: the next build is right, and nobody's file is lost. */
import { playAttackRounds } from '../../support/attack-rounds.js';
import { roundsOf } from '../../support/rounds.js';

it('after any attacks a build gives the same artifacts as a clean build, and foreign files are kept', async () => {
  await playAttackRounds(roundsOf(Number(process.env.TANREN_ROUNDS ?? 60)));
}, 3_600_000);
