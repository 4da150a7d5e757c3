/** Every view of the page, on the default pipeline, in a browser: content, addresses, widths, schemes, keyboard, accessibility. */
import type { Browser } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { findPage, type PageServer } from '../../support/page-client.js';
import { type OpenedPage, openInBrowser } from '../../support/page-driver.js';
import { givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';
import { type StartedTanren, startTanren } from '../../support/start-tanren.js';

describeInBrowser('the page of the default pipeline', path => {
  let project: ShapesProject;
  let browser: Browser;
  let server: PageServer;
  let started: StartedTanren;
  let opened: OpenedPage;
  beforeAll(async () => {
    project = givenShapesProject(24);
    expect(project.build().exitCode).toBe(0);
    started = startTanren(project.folder, 'ui', '--port', '0');
    server = await findPage(started);
    browser = await openBrowser(path);
  });
  afterAll(async () => {
    await browser?.close();
    started?.kill();
    project?.remove();
  });
  afterEach(async () => {
    await opened?.close();
  });

  const VIEWS = [
    ['/', 'evaluate-int8'],
    ['/?as=list', 'evaluate-int8'],
    ['/?stage=quantize@backbone', 'Action key'],
    ['/runs', 'What changed'],
    ['/runs?of=r1,now&all=yes', 'Parameters'],
    ['/results', 'AP75'],
    ['/quantization?stage=quantize@backbone', 'Propagated'],
    ['/quantization?stage=quantize@backbone&value=backbone/body/layer1/0/bn3', 'elements, logarithmic'],
    ['/compile', 'Roofline'],
    ['/model?stage=quantize@backbone', 'boxes are drawn'],
    ['/model?stage=quantize@backbone&node=backbone/body/layer1/0/bn3', 'Attributes'],
    ['/compile?model=box_head&unit=1', 'Memory of part'],
  ] as const;

  it.each(VIEWS)('%s shows its content, logs nothing and asks no other server', async (at, text) => {
    opened = await openInBrowser(browser, server);
    await opened.go(at);
    await opened.page.getByText(text).filter({ visible: true }).first().waitFor();
    expect(opened.heard).toEqual([]);
  });

  it.each(VIEWS)('%s has no serious barrier, and readable texts, in light and dark', async at => {
    for (const colorScheme of ['light', 'dark'] as const) {
      opened = await openInBrowser(browser, server, { colorScheme });
      await opened.go(at);
      expect(await opened.findBarriers()).toEqual([]);
      expect(await opened.findFaintTexts()).toEqual([]);
      await opened.close();
    }
  });

  it.each([360, 500, 1400, 2560])('no view is wider than a window of %i pixels', async width => {
    opened = await openInBrowser(browser, server, { viewport: { width, height: 800 } });
    for (const [at] of VIEWS) {
      await opened.go(at);
      expect([at, await opened.overflow()]).toEqual([at, 0]);
    }
  });

  it('loads at most 300 kB for its first view, compressed', async () => {
    opened = await openInBrowser(browser, server);
    let bytes = 0;
    opened.page.on('response', response => {
      bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await opened.go('/');
    await opened.page.locator('.graph .box').first().waitFor();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(300_000);
  });

  it('is used with the keyboard alone: picks a stage, moves along the graph, closes, changes the view', async () => {
    opened = await openInBrowser(browser, server);
    const { page } = opened;
    await opened.go('/');
    await page.locator('[data-stage="parts"]').focus();
    await page.keyboard.press('ArrowRight');
    const focused = () => page.evaluate<string | undefined>('document.activeElement?.dataset?.stage');
    expect(await focused()).toMatch(/^(simplify@|verify-split)/);
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toBe('parts');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Stage parts' }).waitFor();
    expect(page.url()).toContain('?stage=parts');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Runs' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  it('keeps the state of a view in its address, and goes back', async () => {
    opened = await openInBrowser(browser, server);
    const { page } = opened;
    await opened.go('/results?kind=lost');
    await page.getByRole('button', { name: /^lost \d/ }).waitFor();
    expect(await page.getByRole('button', { name: /^lost \d/ }).getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('link', { name: 'Quantization' }).click();
    await page.getByRole('heading', { name: 'Quantization' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: /^lost \d/ }).waitFor();
    expect(page.url()).toContain('kind=lost');
    expect(page.url()).toContain(`#token=${server.token}`);
  });

  it('sorts the values of a model by their error, worst first', async () => {
    opened = await openInBrowser(browser, server);
    const { page } = opened;
    await opened.go('/quantization?stage=quantize@backbone');
    await page.getByRole('button', { name: 'Propagated' }).click();
    const cells = await page.locator('.data tbody tr td:nth-child(4)').allInnerTexts();
    const numbers = cells.map(Number).filter(Number.isFinite);
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('shows an image with the objects of both sides, as many as are matched', async () => {
    opened = await openInBrowser(browser, server);
    const { page } = opened;
    await opened.go('/results?left=evaluate-float&right=evaluate-int8');
    await page.locator('.overlay image').first().waitFor({ state: 'attached' });
    const left = await page.locator('.two figure:first-child rect.object').count();
    const right = await page.locator('.two figure:last-child rect.object').count();
    const kinds = await page.locator('.pair tbody td:nth-child(2)').allInnerTexts();
    const count = (kind: string): number => kinds.filter(one => one === kind).length;
    expect(left).toBe(kinds.length - count('found'));
    expect(right).toBe(kinds.length - count('lost'));
    expect(left).toBeGreaterThan(0);
  });

  it('honors reduced motion', async () => {
    opened = await openInBrowser(browser, server, { reducedMotion: 'reduce' });
    await opened.go('/');
    expect(await opened.page.evaluate('document.getAnimations().length')).toBe(0);
  });
});
