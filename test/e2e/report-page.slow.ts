/** The report page in a real browser: wide and narrow, light and dark, with and without scripts. */
import { readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { report } from '../../stages/report/stage.js';
import { describeInBrowser, openBrowser } from '../support/browser.js';
import { BUILD, givenReportInputs } from '../support/report-inputs.js';
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
    const { outputs } = await runStage(report, { params: {}, inputs, folder: folder.path, build: BUILD });
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

  it.each([1280, 400, 360])('makes no request, logs no error and does not overflow at %i pixels, collapsed and expanded', async width => {
    const { page, heard } = await open({ viewport: { width, height: 900 } });
    const overflow = (): Promise<number> =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(await page.locator('section').count()).toBe(15);
    expect(await overflow()).toBe(0);
    await openAll(page);
    expect(await overflow()).toBe(0);
    expect(heard).toEqual([]);
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('has readable text contrast in %s', async colorScheme => {
    const { page } = await open({ viewport: { width: 1280, height: 900 }, colorScheme });
    await openAll(page);
    const contrasts = await measure(page);
    expect(contrasts.count).toBeGreaterThan(200);
    expect(contrasts.faint).toEqual([]);
    expect(contrasts.isDark).toBe(colorScheme === 'dark');
    await page.context().close();
  });

  it('switches the color scheme by the button', async () => {
    const { page, heard } = await open({ viewport: { width: 400, height: 900 }, colorScheme: 'light' });
    await page.getByRole('button', { name: 'Dark colors' }).click();
    expect((await measure(page)).isDark).toBe(true);
    await page.getByRole('button', { name: 'Light colors' }).click();
    expect((await measure(page)).isDark).toBe(false);
    expect(heard).toEqual([]);
    await page.context().close();
  });

  it('shows everything without scripts, and the keyboard expands collapsed sections', async () => {
    const { page, heard } = await open({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    expect(await page.locator('button').count()).toBe(0);
    for (const title of ['Pipeline', 'Accuracy', 'Detections', 'Verification', 'Error per layer', 'Ranges', 'Partition', 'Latency'])
      expect(await page.getByRole('heading', { name: title, exact: true }).isVisible()).toBe(true);
    const tensors = page.locator('.tensors details');
    expect(await tensors.nth(0).getAttribute('open')).not.toBeNull();
    await tensors.nth(1).locator('summary').press('Enter');
    expect(await tensors.nth(1).locator('.chart-wide svg').isVisible()).toBe(true);
    expect(await tensors.nth(0).getAttribute('open')).toBeNull();
    expect(heard).toEqual([]);
    await page.context().close();
  });

  it('shows the wide or the narrow drawing of a chart, never both', async () => {
    for (const [width, shown, hidden] of [
      [1280, '.chart-wide', '.chart-narrow'],
      [400, '.chart-narrow', '.chart-wide'],
    ] as const) {
      const { page } = await open({ viewport: { width, height: 900 } });
      const chart = page.locator('#accuracy .chart').first();
      expect(await chart.locator(shown).isVisible()).toBe(true);
      expect(await chart.locator(hidden).isVisible()).toBe(false);
      await page.context().close();
    }
  });
});
