/** Measures the server of the page while nothing happens: one page is open on the default pipeline. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Example } from '../example.js';
import { printTable } from '../table.js';
import { aimRow, withPage } from './served-page.js';

const IDLE_MS = 60_000;
const [AIM_SHARE, AIM_MEGABYTES] = [0.5, 150];

/** What a server does at its start is over by then. */
const SETTLE_MS = 5_000;

export async function measureIdle(example: Example): Promise<void> {
  const { share, megabytes } = await withPage(example.get().project.folder, ['ui', '--port', '0'], async page => {
    const opened = await page.open();
    for (const at of ['/', '/results', '/quantization', '/compile', '/model']) await opened.go(at);
    await wait(SETTLE_MS);
    const before = page.processorMs();
    const start = performance.now();
    await wait(IDLE_MS);
    const used = page.processorMs() - before;
    return { share: (100 * used) / (performance.now() - start), megabytes: page.residentBytes() / 1e6 };
  });
  printTable(`The page's server while idle for ${IDLE_MS / 1000} s, after five views`, [
    ['', 'value', 'aim', ''],
    aimRow('of a core', share, AIM_SHARE, '%'),
    aimRow('memory', megabytes, AIM_MEGABYTES, 'MB'),
  ]);
}
