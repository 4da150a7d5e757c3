/** A page for the benches: `tanren ui` or `tanren watch --ui` as a process whose use of processor and memory is read, and a browser. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { findBrowser, openBrowser } from '../../test/support/browser.js';
import { followProcess } from '../../test/support/cli-world.js';
import { findPage, type PageServer } from '../../test/support/page-client.js';
import { type OpenedPage, openInBrowser } from '../../test/support/page-driver.js';
import { DIST } from '../../test/support/shapes-project.js';

export interface ServedPage {
  readonly server: PageServer;
  readonly browser: Browser;
  /** A tab with an empty cache. */
  open(): Promise<OpenedPage>;
  /** User and system time of the server, and of the processes that it started and that ended. */
  processorMs(): number;
  residentBytes(): number;
}

/** Characters of the command's output that an error repeats: the end of its last build. */
const TOLD = 2_000;

/** The system counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Serves the page of a project as long as `work` takes. @param words of the command. @throws Error without Chromium. */
export async function withPage<T>(folder: string, words: readonly string[], work: (page: ServedPage) => Promise<T>): Promise<T> {
  const path = findBrowser();
  if (path === undefined) throw new Error('no Chromium found: install one, or name it in TANREN_CHROMIUM');
  const child = spawn(process.execPath, [join(DIST, 'bin/tanren.js'), ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const browser = await openBrowser(path);
  const running = followProcess(child);
  const pid = child.pid ?? 0;
  try {
    const server = await findPage(running);
    return await work({
      server,
      browser,
      open: () => openInBrowser(browser, server),
      processorMs: () => readProcessorMs(pid),
      residentBytes: () => readResidentBytes(pid),
    });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}; the command printed:\n${running.output().slice(-TOLD)}`, {
      cause: error,
    });
  } finally {
    await browser.close();
    running.signal('SIGINT');
    await running.ended;
  }
}

function readProcessorMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain spaces.
  const facts = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return facts.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}

function readResidentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

const CHECK_MS = 50;

/**
 * Waits until an expression of the page is true. The page itself looks, after each change of its document and every 50 ms:
 * a driver that asks every 10 ms takes a third of a processor from the build that is measured.
 */
export async function waitUntil({ page }: OpenedPage, expression: string, longestMs = 120_000): Promise<void> {
  const isTrue = await page.evaluate<boolean>(`new Promise(resolve => {
    const until = performance.now() + ${longestMs};
    const check = () => {
      const isTrue = Boolean(${expression});
      if (!isTrue && performance.now() < until) return;
      observer.disconnect();
      clearInterval(timer);
      resolve(isTrue);
    };
    const observer = new MutationObserver(check);
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    const timer = setInterval(check, ${CHECK_MS});
    check();
  })`);
  if (!isTrue) throw new Error(`the page never came to ${expression}`);
}

/** A row of a table: the figure, its aim, and whether the aim is reached. */
export function aimRow(what: string, value: number, aim: number, unit: string): readonly string[] {
  const digits = aim < 10 ? 2 : 0;
  return [what, `${value.toFixed(digits)} ${unit}`, `${aim} ${unit}`, value <= aim ? 'kept' : 'MISSED'];
}
