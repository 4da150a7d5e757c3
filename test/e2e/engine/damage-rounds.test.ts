/** Is the next build right whatever happens to a file of the cache? The slow suite plays 200 rounds. */
import { playDamageRounds } from '../../support/damage-rounds.js';

it('builds right after 5 damages to files of the cache', () => playDamageRounds(5), 120_000);
