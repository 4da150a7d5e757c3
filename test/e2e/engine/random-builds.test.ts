/** Every build of a few random histories does exactly what the model says. Scenario 41 plays hundreds. */
import { checkRandomBuilds } from '../../support/random-builds.js';

it('does what is missing, and nothing else, whatever happened before', async () => {
  await checkRandomBuilds(25);
}, 600_000);
