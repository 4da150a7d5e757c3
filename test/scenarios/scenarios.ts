/** All scenarios: what happens to build systems, and what a build must do then, through the command line; one file per theme. */
import { CHANCE } from './chance.js';
import { CODE } from './code.js';
import { CONCURRENCY } from './concurrency.js';
import { EDITS } from './edits.js';
import { HARD } from './hard.js';
import { INPUTS } from './inputs.js';
import { INTERRUPTIONS } from './interruptions.js';
import { METRICS } from './metrics.js';
import { NAMES } from './names.js';
import { REHASH } from './rehash.js';
import { REMOTE } from './remote.js';
import { RESOURCES } from './resources.js';
import { SANDBOX } from './sandbox.js';
import type { Scenario } from './scene.js';
import { SHARE } from './share.js';
import { STORE } from './store.js';
import { WATCH } from './watch.js';

/** In the order of their numbers, each of which names one. */
export const SCENARIOS: readonly Scenario[] = [
  ...CHANCE,
  ...CODE,
  ...CONCURRENCY,
  ...EDITS,
  ...HARD,
  ...INPUTS,
  ...INTERRUPTIONS,
  ...METRICS,
  ...NAMES,
  ...REHASH,
  ...REMOTE,
  ...RESOURCES,
  ...SANDBOX,
  ...SHARE,
  ...STORE,
  ...WATCH,
].sort((a, b) => a.number - b.number);
