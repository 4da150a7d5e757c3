/** Do the scenarios hold that other build tools are compared by (1 to 45), as far as they are quick? `npm run scenarios` prints all as a table; scenarios.slow.ts plays the others. */
import { playScenarios } from '../support/play-scenarios.js';

playScenarios(({ number, pace }) => number <= 45 && pace === 'quick');
