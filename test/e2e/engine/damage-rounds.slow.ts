/** The next build is right whatever happens to a file of the cache. */
import { playDamageRounds } from '../../support/damage-rounds.js';
import { roundsOf } from '../../support/rounds.js';

const ROUNDS = roundsOf(200);

it(`builds right after ${ROUNDS} damages to files of the cache`, () => playDamageRounds(ROUNDS), 1_200_000);
