/** Is the next build right whatever happens to a file of the cache, 200 times? */
import { playDamageRounds } from '../../support/damage-rounds.js';

it('builds right after 200 damages to files of the cache', () => playDamageRounds(200), 1_200_000);
