/** Attacks on builds that lend slots: the next build is right, nothing keeps running, and builds had part processes. */
import { playLentRounds } from '../../support/lent-rounds/play-rounds.js';
import { roundsOf } from '../../support/rounds.js';

it('after any attacks on part processes, workers and code a build leaves what its inputs say', async () => {
  const { rounds, withPartProcesses } = await playLentRounds(roundsOf(Number(process.env.TANREN_ROUNDS ?? 30)));
  // More than half of the rounds have some where cores are free.
  expect(withPartProcesses).toBeGreaterThanOrEqual(Math.floor(rounds / 10));
}, 3_600_000);
