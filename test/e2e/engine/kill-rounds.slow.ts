/** Is the next build right after SIGKILL at a random moment, 500 times? */
import { playKillRounds } from '../../support/kill-rounds.js';

it('builds right after 500 kills, with no damage and no process left', async () => {
  await playKillRounds(500);
}, 1_800_000);
