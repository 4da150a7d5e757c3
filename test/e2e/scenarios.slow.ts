/** Does every slow scenario of test/scenarios hold? */
import { playScenarios } from '../support/play-scenarios.js';

playScenarios('slow');
