/** Caches are transparent: off, local, shared, archive, gRPC, HTTP and packed parts give equal bytes and the same executed stages, faults or not. */
import { checkTransparency } from '../../support/remote/transparency.js';
import { roundsOf } from '../../support/rounds.js';

it('random graphs have the bytes of a build alone, whatever their results travel through', async () => {
  await checkTransparency(roundsOf(15));
}, 600_000);
