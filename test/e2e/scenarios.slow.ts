/** The scenarios that scenarios.test.ts leaves out. */
import { playScenarios } from '../support/play-scenarios.js';

playScenarios(({ number, pace }) => number > 45 || pace === 'slow');
