/** The page while things happen: builds, edits, a server that restarts, two pages, names with markup, a hostile page of another origin. */
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { describeInBrowser, openBrowser } from '../../support/browser.js';
import { type CliProcess, type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { findPage, type PageServer } from '../../support/page-client.js';
import { type OpenedPage, openInBrowser } from '../../support/page-driver.js';

describeInBrowser('the live page', path => {
  let world: CliWorld;
  let browser: Browser;
  let running: CliProcess;
  let server: PageServer;
  let opened: OpenedPage;
  beforeAll(async () => {
    browser = await openBrowser(path);
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    world = givenProject(TEXT_PROJECT);
    running = world.start('ui');
    server = await findPage(running);
    opened = await openInBrowser(browser, server);
  });
  afterEach(async () => {
    await opened.close();
    world.remove();
  });

  const text = (page: OpenedPage, what: string | RegExp): Promise<void> =>
    page.page.getByText(what).filter({ visible: true }).first().waitFor();

  it('of a project that was never built says so, builds it on a click, and shows the result', async () => {
    await opened.go('/');
    await text(opened, 'No build has run a stage yet');
    await opened.page.getByRole('button', { name: 'Run all' }).click();
    await text(opened, 'All 4 stages are up to date');
    await text(opened, 'Timeline of r1');
    for (const [at, sentence] of [
      ['/results', 'No built stage has detections'],
      ['/quantization', 'no stage that uses “quantize”'],
      ['/runs', 'Nothing is picked'],
      ['/nowhere', 'There is no view'],
    ] as const) {
      await opened.go(at);
      await text(opened, sentence);
    }
    expect(opened.heard).toEqual([]);
  });

  it('shows in the boxes of the graph what the last build did: built, restored, unchanged, failed, skipped', async () => {
    await opened.go('/');
    const boxes = async (): Promise<Readonly<Record<string, string>>> =>
      Object.fromEntries(
        await opened.page
          .locator('.graph .box')
          .evaluateAll(found =>
            found.map(box => [box.querySelector('.title')?.textContent ?? '', box.querySelector('.outcome')?.textContent ?? '']),
          ),
      );
    expect(world.run('build').exitCode).toBe(0);
    await text(opened, 'All 4 stages are up to date');
    // The boxes are drawn with the next look at the project.
    await text(opened, '▶ built · r1');
    expect(await boxes()).toEqual({
      shout: '▶ built · r1',
      'count@bytes': '▶ built · r1',
      'count@lines': '▶ built · r1',
      judge: '▶ built · r1',
    });
    rmSync(join(world.folder, 'artifacts/judge'), { recursive: true });
    expect(world.run('build').exitCode).toBe(0);
    await text(opened, '↓ local cache · r2');
    expect(await boxes()).toEqual({
      shout: '= unchanged · r2',
      'count@bytes': '= unchanged · r2',
      'count@lines': '= unchanged · r2',
      judge: '↓ local cache · r2',
    });
    world.write('pipeline.yaml', world.read('pipeline.yaml').replace('tr a-z', 'exit 3; tr a-z'));
    expect(world.run('build', '--keep-going').exitCode).toBe(1);
    // On a machine that is busy the page looks at everything again after the build.
    await opened.page.getByText('✗ failed · r3').first().waitFor({ timeout: 90_000 });
    expect(await boxes()).toEqual({
      shout: '✗ failed · r3',
      'count@bytes': '– skipped · r3',
      'count@lines': '– skipped · r3',
      judge: '= unchanged · r3',
    });
    await opened.page.getByRole('button', { name: 'shout: failed; last build: failed in r3' }).waitFor();
    const line = opened.page.locator('.buildbar').getByRole('status');
    await line.getByText('shout failed.').waitFor();
    await line.getByRole('link', { name: 'shout' }).click();
    await opened.page.getByText('sh ended with exit code 3').first().waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('moves nothing while a stage runs where less motion is wanted', async () => {
    // Runs until it is told to go on.
    const held = `while [ ! -e "${world.folder}/go" ]; do sleep 0.05; done; tr a-z`;
    world.write('pipeline.yaml', world.read('pipeline.yaml').replace('tr a-z', held.replaceAll('"', '')));
    const still = await openInBrowser(browser, server, { reducedMotion: 'reduce' });
    await opened.go('/');
    await still.go('/');
    await opened.page.getByRole('button', { name: 'Run all' }).click();
    const moving = [];
    for (const { page } of [opened, still]) {
      await page.locator('.graph .box.running').first().waitFor();
      moving.push(await page.evaluate<boolean>('document.getAnimations().length > 0'));
    }
    world.write('go', '');
    await text(still, 'All 4 stages are up to date');
    expect(moving).toEqual([true, false]);
    await still.close();
  });

  it('shows what an imported archive holds: results that a build would restore, with their figures', async () => {
    expect(world.run('build').exitCode).toBe(0);
    expect(world.run('cache', 'export', 'all.tanren').exitCode).toBe(0);
    const other = givenProject(TEXT_PROJECT);
    try {
      expect(other.run('cache', 'import', join(world.folder, 'all.tanren')).exitCode).toBe(0);
      expect(other.run('status').stdout).toContain('would be restored: not built in this checkout; the cache has its result');
      const page = await openInBrowser(browser, await findPage(other.start('ui')));
      await page.go('/?stage=judge');
      await text(page, '4 of 4 stages are not up to date; the cache has their results.');
      await text(page, 'not built in this checkout; the cache has its result');
      await text(page, 'quality.words');
      expect(await page.page.locator('main').innerText()).not.toContain('never built');
      // Results of other inputs are counted.
      const changed = other.read('pipeline.yaml').replace('tr a-z A-Z', 'tr a-y A-Y').replace('cp score', 'true; cp score');
      other.write('pipeline.yaml', changed);
      await text(page, '4 of 4 stages are not up to date; the cache holds 4 results, none for the present inputs.');
      expect(page.heard).toEqual([]);
      await page.close();
    } finally {
      other.remove();
    }
  });

  it('shows a build that was started elsewhere, in two pages at once, and an edit without a build', async () => {
    const other = await openInBrowser(browser, server);
    for (const page of [opened, other]) await page.go('/');
    expect(world.run('build').exitCode).toBe(0);
    for (const page of [opened, other]) await text(page, 'All 4 stages are up to date');
    world.saveByRename('notes.txt', 'anvil\n');
    for (const page of [opened, other]) await text(page, /of 4 stages are not up to date/);
    await opened.page.locator('[data-stage="shout"]').click();
    await text(opened, 'source notes.txt changed');
    await other.close();
  });

  it('shows the errors of the pipeline file, and the stages again when they are corrected', async () => {
    await opened.go('/');
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('uses: command', 'uses: comand'));
    await text(opened, 'did you mean "command"?');
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml']);
    await text(opened, '4 of 4 stages are not up to date');
  });

  it('says that the server is gone, and connects again after a restart', async () => {
    await opened.go('/');
    running.signal('SIGKILL');
    await running.ended;
    await text(opened, 'The server does not answer');
    const again = world.start('ui');
    expect((await findPage(again)).port).toBe(server.port);
    await opened.page.getByText('The server does not answer').waitFor({ state: 'detached' });
    expect(world.run('build').exitCode).toBe(0);
    await text(opened, 'All 4 stages are up to date');
  });

  it('with a rotated token reads and starts nothing', async () => {
    await opened.go('/');
    const other = world.start('ui', '--port', '0', '--new-token');
    await findPage(other);
    await opened.page.getByRole('button', { name: 'Run all' }).click();
    await text(opened, 'the token is missing or no longer valid');
    await opened.page.reload();
    await text(opened, 'The token in this address is not valid any more');
    expect(world.exists('artifacts/shout/text')).toBe(false);
  });

  it('that is read-only has no buttons that change something', async () => {
    const readOnly = await openInBrowser(browser, await findPage(world.start('ui', '--port', '0', '--read-only')));
    await readOnly.go('/?stage=shout');
    await text(readOnly, 'Params');
    expect(await readOnly.page.getByRole('button', { name: /Run|Cancel/ }).count()).toBe(0);
    await readOnly.close();
  });

  it('shows names and texts with markup and control characters as text', async () => {
    const evil = '<img src=x onerror=alert(1)>';
    world.write(`${evil}\u202e.txt`, 'x');
    world.write(
      'pipeline.yaml',
      `version: 1\nparams: {mode: ${JSON.stringify(`${evil}\u0007\u202e`)}}\nsources: {odd: ${JSON.stringify(`${evil}\u202e.txt`)}}\nstages:\n  odd:\n    uses: command\n    with: {run: ["printf '%s' \\"<script>alert(2)</script>\\"; printf '\\\\033[31mred\\\\007'; cp in out"], shell: sh, inputs: {in: in}, outputs: {out: out}}\n    inputs: {in: "\${sources.odd}"}\n    env: []\n`,
    );
    world.run('build');
    await opened.go('/?stage=odd');
    await text(opened, '<script>alert(2)</script>');
    await text(opened, /<img src=x onerror=alert\(1\)>/);
    await opened.go('/runs?of=r1&all=yes');
    await text(opened, /<img src=x onerror=alert\(1\)>/);
    expect(await opened.page.locator('img, main script').count()).toBe(0);
    expect(await opened.page.locator('main').innerText()).not.toMatch(/[\p{Cf}\u202e]|(?![\n\t])\p{Cc}/u);
    expect(opened.heard).toEqual([]);
  });

  describe('and a page of another origin', () => {
    let hostile: Server;
    let origin: string;
    beforeEach(async () => {
      hostile = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>hostile</title>'));
      await new Promise<void>(resolve => hostile.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`;
    });
    afterEach(() => hostile.close());

    it('read and start nothing, even when it knows the token', async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(origin);
      const target = `http://127.0.0.1:${server.port}`;
      const attempt = (code: string): Promise<unknown> => page.evaluate(code);
      const headers = `{ authorization: 'Bearer ${server.token}', 'content-type': 'application/json' }`;
      for (const name of ['pipeline', 'events']) {
        expect(await attempt(`fetch('${target}/api/${name}', { headers: ${headers} }).then(r => r.text(), () => 'refused')`)).toBe(
          'refused',
        );
        expect(await attempt(`fetch('${target}/api/${name}', { mode: 'no-cors' }).then(r => r.type + r.status, () => 'refused')`)).toMatch(
          /^(opaque0|refused)$/,
        );
      }
      expect(
        await attempt(
          `fetch('${target}/api/build', { method: 'POST', headers: ${headers}, body: '{}' }).then(r => r.text(), () => 'refused')`,
        ),
      ).toBe('refused');
      await attempt(`fetch('${target}/api/build', { method: 'POST', mode: 'no-cors', body: '{"targets": []}' }).catch(() => 0)`);
      await attempt(`new Promise(end => { const form = Object.assign(document.createElement('form'), { method: 'POST', action: '${target}/api/build', enctype: 'text/plain', target: 'frame' });
        const frame = Object.assign(document.createElement('iframe'), { name: 'frame', onload: end }); document.body.append(frame, form); form.submit(); setTimeout(end, 1500); })`);
      // It can be shown in no frame, and no script of it runs elsewhere.
      const frame = await attempt(
        `new Promise(end => { const frame = document.createElement('iframe'); frame.src = '${target}/#token=${server.token}'; frame.onload = () => { try { end(frame.contentDocument?.body?.innerText ?? 'closed'); } catch { end('closed'); } }; document.body.append(frame); setTimeout(() => end('closed'), 3000); })`,
      );
      expect(frame).toBe('closed');
      expect(world.exists('artifacts/shout/text')).toBe(false);
      expect(world.exists('cache/history/pipeline.log')).toBe(false);
      await context.close();
    });
  });
});
