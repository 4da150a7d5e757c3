/** After SIGKILL at a random moment the next build is right. Scenario 40 plays 500 rounds. */
import { playKillRounds } from '../../support/kill-rounds.js';

it('builds correctly after 10 kills, without damage or remaining processes', async () => {
  await playKillRounds(10);
}, 600_000);
