/** Does every quick scenario of test/scenarios hold? `npm run scenarios` prints all of them as a table. */
import { playScenarios } from '../support/play-scenarios.js';

playScenarios('quick');
