/** A build as a process that a test can kill: `node engine-driver.js FOLDER STAGES_JSON [JOBS]` prints an event per line. */
import { build } from '../../src/engine/build.js';
import type { StageSpec } from './plan-of.js';
import { planOf } from './plan-of.js';
import { DIST } from './world.js';

const [folder = '', stages = '{}', jobs = '2'] = process.argv.slice(2);
const abort = new AbortController();
process.on('SIGINT', () => abort.abort());
const plan = await planOf(folder, `${folder}/plugins`, JSON.parse(stages) as Record<string, StageSpec>);
const report = await build(
  plan,
  { targets: 'all', failures: 'stop', force: 'never', jobs: Number(jobs) },
  {
    installRoot: DIST,
    environment: process.env,
    platformClass: { guard: () => 'guard', compute: async () => 'class' },
    emit: event => console.log(JSON.stringify(event)),
    nowMs: Date.now,
    signal: abort.signal,
  },
);
console.log(JSON.stringify({ kind: 'end', conclusion: report.conclusion }));
