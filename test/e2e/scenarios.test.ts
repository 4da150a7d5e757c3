/** The quick ones of scenarios 1 to 45, by which build tools are compared. `npm run scenarios` prints all as a table; scenarios.slow.ts plays the others. */
import { playScenarios } from '../support/play-scenarios.js';

playScenarios(({ number, pace }) => number <= 45 && pace === 'quick');
