/** Every build of a few random histories does exactly what the model says. Scenario 41 plays hundreds. */
import { checkRandomBuilds } from '../../support/random-builds.js';

it('runs only what is out of date after any sequence of events', async () => {
  await checkRandomBuilds(25);
}, 600_000);
