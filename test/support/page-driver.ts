/** Opens the page of `tanren ui` in a browser, and notes everything that it asks for, logs and fails at. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { PageServer } from './page-client.js';
import { DIST } from './world.js';

export interface OpenedPage {
  readonly page: Page;
  /** Requests to other servers, console messages, errors, dialogs. */
  readonly heard: readonly string[];
  /** Goes to a view, and waits until it shows something that is not loading. */
  go(path: string): Promise<void>;
  /** Serious and critical findings of axe. */
  findBarriers(): Promise<readonly string[]>;
  /** Texts with a contrast below 4.5. */
  findFaintTexts(): Promise<readonly string[]>;
  /** By how many pixels the page is wider than the window. */
  overflow(): Promise<number>;
  /** Bytes of all answers since the page was opened as they were sent, compressed: those of an answer that still runs are not known yet. */
  transferred(): Promise<number>;
  close(): Promise<void>;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MEASURE = readFileSync(join(dirname(DIST), 'test/fixtures/browser/measure-contrasts.js'), 'utf8');

const LONGEST_MS = 30_000;

const IS_SHOWN =
  "(text => text !== '' && !/Loading|Laying out/.test(text))(document.querySelector('main:not([hidden])')?.textContent ?? '')";

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[];
}

export function openInBrowser(
  browser: Browser,
  { port, token }: Pick<PageServer, 'port' | 'token'>,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const origin = `http://127.0.0.1:${port}`;
  return openPlace(browser, { own: origin, addressOf: path => `${origin}${path}#token=${token}` }, options);
}

/** A page in a file: views are in the fragment. */
export function openFileInBrowser(browser: Browser, file: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const own = pathToFileURL(file).href;
  return openPlace(browser, { own, addressOf: path => `${own}#${path}` }, options);
}

interface Place {
  /** What the page may ask for begins so. */
  readonly own: string;
  addressOf(path: string): string;
}

async function openPlace(browser: Browser, { own, addressOf }: Place, options: BrowserContextOptions): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const heard: string[] = [];
  page.on('request', request => {
    if (![own, 'blob:', 'data:'].some(start => request.url().startsWith(start))) heard.push(`request ${request.url()}`);
  });
  page.on('console', message => heard.push(`console ${message.text()}`));
  page.on('pageerror', error => heard.push(`error ${error.message}`));
  page.on('dialog', dialog => {
    heard.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  return {
    page,
    heard,
    async go(path) {
      await page.goto('about:blank');
      await page.goto(addressOf(path));
      // What a saved page shows before its script runs.
      await page.locator('#document').waitFor({ state: 'detached' });
      // The page's policy forbids code from texts, which the browser driver's own waiting uses.
      const until = performance.now() + LONGEST_MS;
      while (!(await page.evaluate<boolean>(IS_SHOWN))) {
        if (performance.now() > until) throw new Error(`${path} still loads: ${await page.locator('body').innerText()}`);
        await page.waitForTimeout(20);
      }
    },
    async findBarriers() {
      // The page's policy forbids scripts from elsewhere: the debugger brings this one.
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
    },
    findFaintTexts: async () => (await page.evaluate<{ readonly faint: readonly string[] }>(MEASURE)).faint,
    overflow: () => page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    transferred: () =>
      page.evaluate<number>(
        "['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
      ),
    close: () => context.close(),
  };
}
