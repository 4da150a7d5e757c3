/**
 * Measures how soon `tanren watch` reports that a save changed nothing.
 * The time is from the end of the save to the line, including the 10 ms of quiet that it waits for.
 */
import { spawn } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { followProcess } from '../test/support/cli-world.js';
import { DIST } from '../test/support/shapes-project.js';
import { formatSamples, printTable } from './table.js';
import { type Samples, summarize } from './timing.js';
import { makeTrivialFolder, makeTrivialGraph, writeTrivialPipeline } from './trivial-graph.js';

const ROUNDS = 31;
const AIM_MS = 50;

export async function measureWatch(): Promise<void> {
  const rows = [['stages', 'save → line', 'aim']];
  for (const count of [100, 1_000]) rows.push([String(count), formatSamples(await measureGraph(count)), `${AIM_MS} ms`]);
  printTable('watch: a save without a change', rows);
}

async function measureGraph(count: number): Promise<Samples> {
  const { folder, remove } = makeTrivialFolder('watch');
  writeTrivialPipeline(folder, makeTrivialGraph(count));
  const child = spawn(process.execPath, [join(DIST, 'bin/tanren.js'), 'watch'], { cwd: folder, stdio: 'pipe' });
  const watch = followProcess(child);
  try {
    await watch.waitFor('watching; Ctrl-C ends');
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // Waits until the events of the previous build are over.
      await wait(200);
      const saved = performance.now();
      utimesSync(join(folder, 'source.txt'), new Date(), new Date());
      await watch.waitFor('nothing to do');
      times.push(performance.now() - saved);
      await watch.waitFor('watching; Ctrl-C ends');
    }
    return summarize(times);
  } finally {
    watch.signal('SIGINT');
    await watch.ended;
    remove();
  }
}
