/** Is the next build right after SIGKILL at a random moment? Scenario 40 plays 500 rounds. */
import { playKillRounds } from '../../support/kill-rounds.js';

it('builds right after 30 kills, with no damage and no process left', async () => {
  await playKillRounds(30);
}, 120_000);
