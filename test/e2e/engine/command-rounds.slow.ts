/** Attacks by several commands at once, and on the engine's own files: the next build is right, and nobody's file is lost. */
import { playCommandRounds } from '../../support/command-rounds/play-rounds.js';
import { roundsOf } from '../../support/rounds.js';

it('after any attacks and beside any commands a build leaves what its inputs say, and foreign files are kept', async () => {
  await playCommandRounds(roundsOf(Number(process.env.TANREN_ROUNDS ?? 40)));
}, 3_600_000);
