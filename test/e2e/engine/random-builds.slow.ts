/** Does every build of hundreds of random histories do exactly what the model says? */
import { checkRandomBuilds } from '../../support/random-builds.js';

it('does what is missing, and nothing else, whatever happened before', async () => {
  await checkRandomBuilds(600);
}, 1_200_000);
