/** Does every scenario of test/scenarios hold? `npm run scenarios` prints them as a table. */
import { SCENARIOS } from '../scenarios/scenarios.js';

it.each(SCENARIOS)('$title', async ({ play }) => {
  await play();
}, 60_000);
