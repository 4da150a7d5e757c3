/** The report page in a real browser: wide and narrow, light and dark, with and without scripts, on paper. */
import { readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { report } from '../../stages/report/stage.js';
import { describeInBrowser, openBrowser } from '../support/browser.js';
import { CONNECTED, givenReportInputs } from '../support/report-inputs.js';
import { runStage, temporaryFolder } from '../support/run-stage.js';
import { DIST } from '../support/world.js';

/** What test/fixtures/browser/measure-contrasts.js gives. */
interface Contrasts {
  readonly count: number;
  readonly faint: readonly string[];
  readonly isDark: boolean;
}

const MEASURE = readFileSync(join(dirname(DIST), 'test/fixtures/browser/measure-contrasts.js'), 'utf8');

describeInBrowser('the report page', path => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let browser: Browser;
  let address: string;
  beforeAll(async () => {
    folder = await temporaryFolder('report-page');
    const inputs = await givenReportInputs(folder.path);
    const { outputs } = await runStage(report, { params: {}, inputs, folder: folder.path, build: CONNECTED });
    const file = join(folder.path, 'page.html');
    renameSync(outputs.page ?? '', file);
    address = pathToFileURL(file).href;
    browser = await openBrowser(path);
  });
  afterAll(async () => {
    await browser?.close();
    await folder.remove();
  });

  /** The page with everything that it asks for, says and shows. */
  async function open(options: BrowserContextOptions): Promise<{ page: Page; heard: string[] }> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const heard: string[] = [];
    page.on('request', request => {
      if (request.url() !== address && !request.url().startsWith('data:')) heard.push(`request ${request.url()}`);
    });
    page.on('console', message => heard.push(`console ${message.text()}`));
    page.on('pageerror', error => heard.push(`error ${error.message}`));
    page.on('dialog', dialog => {
      heard.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(address);
    return { page, heard };
  }

  const openAll = (page: Page): Promise<void> =>
    page.evaluate("for (const details of document.querySelectorAll('details')) { details.removeAttribute('name'); details.open = true; }");
  const measure = (page: Page): Promise<Contrasts> => page.evaluate<Contrasts>(MEASURE);

  /** The addresses of the views that have something to show. */
  const VIEWS = ['', '#/pipeline', '#/results', '#/quantization?stage=quantize', '#/compile', '#/compile?unit=1'] as const;

  /** Without the document that the views replace. */
  async function settled(page: Page): Promise<void> {
    await page.locator('#app:not([hidden]) h1').waitFor();
    await until(page, async () => !/Loading|Laying out|Evaluating/.test(await page.locator('#app main').innerText()));
  }

  /** The page's policy forbids code from texts, which the browser driver's own waiting uses. */
  async function until(page: Page, isTrue: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 30_000;
    while (!(await isTrue())) {
      if (performance.now() > end) throw new Error(`the page still shows ${(await page.locator('body').innerText()).slice(0, 500)}`);
      await page.waitForTimeout(50);
    }
  }

  it.each([1280, 400, 360])('makes no request, logs no error and does not overflow at %i pixels, collapsed and expanded', async width => {
    const { page, heard } = await open({ viewport: { width, height: 900 } });
    const overflow = (): Promise<number> =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    await settled(page);
    expect(await page.locator('.report-section').count()).toBe(9);
    for (const view of VIEWS) {
      await page.goto(`${address}${view}`);
      await settled(page);
      expect([view, await overflow()]).toEqual([view, 0]);
      await openAll(page);
      expect([view, await overflow()]).toEqual([view, 0]);
    }
    expect(heard.filter(one => !one.startsWith('request blob:'))).toEqual([]);
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('has readable text contrast in %s', async colorScheme => {
    const { page } = await open({ viewport: { width: 1280, height: 900 }, colorScheme });
    await settled(page);
    await openAll(page);
    const contrasts = await measure(page);
    expect(contrasts.count).toBeGreaterThan(200);
    expect(contrasts.faint).toEqual([]);
    expect(contrasts.isDark).toBe(colorScheme === 'dark');
    await page.context().close();
  });

  it('switches the color scheme by the button', async () => {
    const { page, heard } = await open({ viewport: { width: 400, height: 900 }, colorScheme: 'dark' });
    await settled(page);
    for (const [scheme, isDark] of [
      ['light', false],
      ['dark', true],
    ] as const) {
      await page.getByRole('button', { name: `Switch to ${scheme}` }).click();
      // The page takes the scheme after it has drawn the button again.
      await until(page, async () => (await measure(page)).isDark === isDark);
    }
    expect(heard).toEqual([]);
    await page.context().close();
  });

  it('shows figures, gates and tables without scripts, and says what needs them', async () => {
    const { page, heard } = await open({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    expect(await page.locator('button').count()).toBe(0);
    // The browser driver switches scripts off, but not what the parser makes of their absence.
    expect(await page.locator('noscript').textContent()).toContain('need JavaScript');
    for (const title of ['Accuracy', 'Verification', 'Quantization', 'Recovered accuracy', 'Partition and estimates', 'Latency', 'Sweeps'])
      expect(await page.getByRole('heading', { name: title, exact: true }).isVisible()).toBe(true);
    expect(await page.getByRole('cell', { name: '0.5800' }).first().isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Latency' }).click();
    expect(page.url()).toContain('#latency');
    expect(heard).toEqual([]);
    await page.context().close();
  });

  it('the views show what the document shows, and an address leads to a section of it', async () => {
    const texts = (page: Page, root: string): Promise<string> => page.locator(`${root} .report`).innerText();
    const plain = await open({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    const { page } = await open({ viewport: { width: 1280, height: 900 } });
    await settled(page);
    expect(await page.locator('#document').count()).toBe(0);
    const words = (text: string): readonly string[] =>
      text
        .replace(/in the view \w+/g, '')
        .split(/\s+/)
        .filter(word => word !== '');
    const live = words(await texts(page, '#app'));
    // The points of a sweep are interactive.
    for (const word of words(await texts(plain.page, '#document'))) expect(live).toContain(word);
    await page.goto(`${address}#latency`);
    await page.reload();
    await settled(page);
    await until(page, async () => ((await page.locator('#app #latency').boundingBox())?.y ?? 1e9) < 200);
    await page.context().close();
    await plain.page.context().close();
  });

  it('shows tables as a whole on paper, without navigation', async () => {
    const { page } = await open({ viewport: { width: 1000, height: 900 } });
    await settled(page);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.top').isVisible()).toBe(false);
    expect(await page.locator('.contents').isVisible()).toBe(false);
    expect(
      await page
        .locator('.data')
        .first()
        .evaluate(element => getComputedStyle(element).maxHeight),
    ).toBe('none');
    // In a collapsed part.
    expect(await page.getByText('Step quantize').isVisible()).toBe(true);
    await page.context().close();
  });
});
