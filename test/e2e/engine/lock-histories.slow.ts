/** After a random history the lock is the lock of a build from nothing: many histories. */
import fc from 'fast-check';
import { histories, playLockHistory } from '../../support/lock-histories.js';

it('after any history of edits and builds, the lock equals that of a clean build', async () => {
  await fc.assert(fc.asyncProperty(histories, playLockHistory), { numRuns: 40 });
}, 900_000);
