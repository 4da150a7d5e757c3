/** After SIGKILL at a random moment the next build is right. Scenario 40 plays 500 rounds. */
import { playKillRounds } from '../../support/kill-rounds.js';

it('builds right after 10 kills, with no damage and no process left', async () => {
  await playKillRounds(10);
}, 600_000);
