/** Measures the first load of the page on the default pipeline: fresh server, empty cache of the browser. */
import type { Example } from '../example.js';
import { formatSamples, printTable } from '../table.js';
import { summarize } from '../timing.js';
import { traceMainThread } from './main-thread.js';
import { aimRow, waitUntil, withPage } from './served-page.js';

const ROUNDS = 7;
const [AIM_BYTES, AIM_MS] = [300, 1_000];

interface Load {
  readonly kilobytes: number;
  /** Until the stages are drawn and take a click; until then no task of the main thread is left. */
  readonly interactiveMs: number;
  readonly serverMs: number;
}

export async function measureFirstLoad(example: Example): Promise<void> {
  const { folder } = example.get().project;
  const loads: Load[] = [];
  for (let round = 0; round < ROUNDS; round++) loads.push(await loadOnce(folder));
  const mainMs = await withPage(folder, ['ui', '--port', '0'], async ({ open, browser }) => {
    const opened = await open();
    return (await traceMainThread(browser, opened.page, () => opened.go('/').then(() => waitUntil(opened, READY)))).totalMs;
  });
  const interactive = summarize(loads.map(({ interactiveMs }) => interactiveMs));
  printTable(`First load of the page, default pipeline, fresh server: median of ${ROUNDS}`, [
    ['', 'value', 'aim', ''],
    aimRow('transferred, compressed', Math.max(...loads.map(({ kilobytes }) => kilobytes)), AIM_BYTES, 'kB'),
    aimRow('to interactive', interactive.median, AIM_MS, 'ms'),
    ['  quartiles', formatSamples(interactive)],
    ['  processor time of the server', `${summarize(loads.map(({ serverMs }) => serverMs)).median.toFixed(0)} ms`],
    ['  processor time of the main thread', `${mainMs.toFixed(0)} ms`],
  ]);
}

const READY = "document.querySelector('.graph .box') !== null";

function loadOnce(folder: string): Promise<Load> {
  return withPage(folder, ['ui', '--port', '0'], async ({ open, processorMs }) => {
    const opened = await open();
    // The time at which the first stage is drawn, and the end of tasks that hold back a click on it.
    await opened.page.addInitScript(`
      window.drawnMs = undefined; window.busyMs = 0;
      new PerformanceObserver(list => { for (const one of list.getEntries()) window.busyMs = one.startTime + one.duration; }).observe({ type: 'longtask', buffered: true });
      new MutationObserver(() => { if (window.drawnMs === undefined && ${READY}) window.drawnMs = performance.now(); }).observe(document, { childList: true, subtree: true });`);
    const before = processorMs();
    await opened.go('/');
    await waitUntil(opened, 'window.drawnMs !== undefined');
    await opened.page.waitForTimeout(300);
    const interactiveMs = await opened.page.evaluate<number>('Math.max(window.drawnMs, window.busyMs)');
    const serverMs = processorMs() - before;
    const bytes = await opened.transferred();
    await opened.close();
    return { kilobytes: bytes / 1000, interactiveMs, serverMs };
  });
}
