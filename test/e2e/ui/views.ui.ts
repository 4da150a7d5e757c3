/** Every view of the page, on the default pipeline, in a browser: content, addresses, widths, schemes, keyboard, accessibility. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import type { TensorView } from '../../../src/web/model/tensor-view.js';
import { decodeFloats } from '../../../src/web/page/tensor/tensor-data.js';
import { describeInBrowser } from '../../support/browser.js';
import { givenPage } from '../../support/given-page.js';
import { findPage } from '../../support/page-client.js';
import type { OpenedPage } from '../../support/page-driver.js';
import { givenShapesProject } from '../../support/shapes-project.js';
import { startTanren } from '../../support/start-tanren.js';

describeInBrowser('the page of the default pipeline', path => {
  const page = givenPage(path, () => {
    const project = givenShapesProject(24);
    // The images that are evaluated, captured by another way than the page computes them; and a command that writes a text.
    project.edit('pipeline.yaml', text =>
      text.replace(
        /^ {2}capture:$/m,
        '  capture-val: {uses: capture, with: {samples: 2}, inputs: {detector: *rewritten, recipe: export.recipe, config: "${sources.config}", data: "${sources.val}"}}\n\n  note: {uses: command, with: {run: ["printf %s \'<no JSON>\' > out"], shell: sh, outputs: {result: out}}, env: []}\n\n  capture:',
      ),
    );
    expect(project.build().exitCode).toBe(0);
    return project;
  });

  const VIEWS = [
    ['/', 'evaluate-int8'],
    ['/report', 'Partition and estimates'],
    ['/?as=list', 'evaluate-int8'],
    ['/?stage=quantize@backbone', 'Action key'],
    ['/?stage=quantize@backbone&only=yes&fit=yes&find=int8', 'only around'],
    ['/runs', 'What changed'],
    ['/runs?of=r1,now&all=yes', 'Parameters'],
    ['/results', 'AP75'],
    ['/quantization?stage=quantize@backbone&weight=backbone.body.conv1.weight_1', 'Scales of'],
    ['/results?judged=yes', 'too little overlap'],
    ['/quantization?stage=quantize@backbone', 'Propagated'],
    ['/quantization?stage=quantize@backbone&value=backbone/body/layer1/0/bn3', 'elements, logarithmic'],
    ['/compile', 'Roofline'],
    ['/model?stage=quantize@backbone', 'boxes are drawn'],
    ['/model?stage=quantize@backbone&node=backbone/body/layer1/0/bn3', 'Attributes'],
    ['/model?stage=quantize@backbone&before=rewrite@backbone.model', 'added'],
    ['/model?stage=quantize@backbone&color=device', 'NPU'],
    ['/tensor?stage=rewrite@backbone&against=quantize@backbone.model&value=feature_0', 'All channels'],
    ['/compile?model=box_head&unit=1', 'Memory of part'],
    ['/compile?model=backbone&unit=5', 'its range and errors'],
    ['/tensor?of=evaluate-int8&image=000000001007.jpg', 'its detections'],
  ] as const;

  it.each(VIEWS)('%s shows its content, logs nothing and asks no other server', async (at, text) => {
    const opened = await page.open();
    await opened.go(at);
    await opened.page.getByText(text).filter({ visible: true }).first().waitFor();
    expect(opened.heard).toEqual([]);
  });

  it.each(VIEWS)('%s has no serious barrier, and readable texts, in light and dark', async at => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await page.open({ colorScheme });
      await opened.go(at);
      expect(await opened.findBarriers()).toEqual([]);
      expect(await opened.findFaintTexts()).toEqual([]);
      await opened.close();
    }
  });

  it.each([360, 500, 1400, 2560])('no view is wider than a window of %i pixels', async width => {
    const opened = await page.open({ viewport: { width, height: 800 } });
    for (const [at] of VIEWS) {
      await opened.go(at);
      expect([at, await opened.overflow()]).toEqual([at, 0]);
    }
  });

  it('loads at most 300 kB for its first view, compressed', async () => {
    const opened = await page.open();
    await opened.go('/');
    await opened.page.locator('.graph .box').first().waitFor();
    const bytes = await opened.transferred();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(300_000);
  });

  it('is used with the keyboard alone: picks a stage, moves along the graph, closes, changes the view', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/');
    await tab.locator('[data-stage="parts"]').focus();
    await tab.keyboard.press('ArrowRight');
    const focused = () => tab.evaluate<string | undefined>('document.activeElement?.dataset?.stage');
    expect(await focused()).toMatch(/^(simplify@|verify-split)/);
    await tab.keyboard.press('ArrowLeft');
    expect(await focused()).toBe('parts');
    await tab.keyboard.press('Enter');
    await tab.getByRole('complementary', { name: 'Stage parts' }).waitFor();
    expect(tab.url()).toContain('?stage=parts');
    await tab.keyboard.press('Escape');
    await tab.getByRole('complementary').waitFor({ state: 'detached' });
    await tab.getByRole('link', { name: 'Runs' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  it('finds stages by name, draws what is around one, and scrolls to the stage of its address', async () => {
    const opened = await page.open({ viewport: { width: 900, height: 800 } });
    const { page: tab } = opened;
    await opened.go('/?as=graph&stage=evaluate-int8');
    const box = tab.locator('[data-stage="evaluate-int8"]');
    await box.waitFor();
    const [shown, region] = [await box.boundingBox(), await tab.getByRole('region', { name: 'Graph of stages' }).boundingBox()];
    expect(shown?.x).toBeGreaterThanOrEqual(region?.x ?? Number.NaN);
    expect((shown?.x ?? Number.NaN) + (shown?.width ?? Number.NaN)).toBeLessThanOrEqual((region?.x ?? 0) + (region?.width ?? 0));
    await tab.getByLabel('only around evaluate-int8').check();
    await tab.locator('[data-stage="compile"]').waitFor({ state: 'detached' });
    await expectSoon(() => tab.locator('[data-stage="export"], [data-stage="report"]').count(), 2);
    await tab.getByLabel('all at once').check();
    const graph = tab.getByRole('region', { name: 'Graph of stages' });
    await expectSoon(() => graph.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0);
    await tab.getByRole('searchbox', { name: 'Filter stages' }).fill('mask_head');
    await expectSoon(() => tab.locator('.graph .box:not(.pale)').count(), 4);
    await tab.getByRole('button', { name: 'List' }).click();
    await expectSoon(() => tab.getByRole('region', { name: 'Stages' }).locator('tbody tr').count(), 4);
    await tab.getByRole('searchbox', { name: 'Filter stages' }).fill('<none>');
    await tab.getByText('No stage has “<none>” in its name or plugin.').waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('copies digests, and leads from the outputs of a stage to what they hold and what the step changed', async () => {
    const opened = await page.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page: tab } = opened;
    await opened.go('/?stage=quantize@backbone');
    await tab.getByRole('button', { name: 'Copy the digest of model' }).first().click();
    await tab.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await tab.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^[0-9a-f]{64}$/);
    await tab.getByRole('link', { name: 'what changed from rewrite@backbone.model' }).click();
    await tab.getByText('Before: rewrite@backbone.model').waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('has the kinds of error of all stages at once, as each has them beside another', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    const kinds = tab.getByRole('region', { name: 'Kinds of error' });
    const read = async (): Promise<readonly (readonly string[])[]> =>
      (await kinds.locator('tbody tr').allInnerTexts()).map(row => row.split('\t').map(cell => cell.trim()));
    await opened.go('/results?left=evaluate-float&right=evaluate-rewritten&judged=yes');
    await kinds.waitFor();
    const two = await read();
    await opened.go('/results?left=evaluate-float&right=evaluate-int8&judged=yes');
    await kinds.waitFor();
    await tab.getByLabel('also evaluate-rewritten').check();
    await kinds.getByText('evaluate-rewritten').waitFor();
    const all = await read();
    expect(all.map(row => row.slice(0, 5))).toEqual(two);
    expect(all.every(row => row.length === 7)).toBe(true);
    expect(await tab.locator('.curve').count()).toBe(3);
    expect(await opened.findBarriers()).toEqual([]);
    expect(opened.heard).toEqual([]);
  });

  it('keeps the state of a view in its address, and goes back', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/results?kind=lost');
    await tab.getByRole('button', { name: /^lost \d/ }).waitFor();
    expect(await tab.getByRole('button', { name: /^lost \d/ }).getAttribute('aria-pressed')).toBe('true');
    await tab.getByRole('link', { name: 'Quantization' }).click();
    await tab.getByRole('heading', { name: 'Quantization' }).waitFor();
    await tab.goBack();
    await tab.getByRole('button', { name: /^lost \d/ }).waitFor();
    expect(tab.url()).toContain('kind=lost');
    expect(tab.url()).toContain(`#token=${page.server().token}`);
  });

  it('presses a box of the graph of a model by Enter and by Space, as a button, and does not scroll', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/model?stage=quantize@backbone&node=backbone/body/layer1/0/bn3');
    const boxes = tab.locator('.canvas .node:not(.picked) .press');
    for (const key of ['Space', 'Enter']) {
      const name = (await boxes.first().getAttribute('aria-label')) ?? '';
      await boxes.first().focus();
      await tab.keyboard.press(key);
      await tab
        .locator('.canvas .picked .press')
        .and(tab.getByLabel(name, { exact: true }))
        .waitFor();
      expect(await tab.evaluate<number>('scrollY')).toBe(0);
    }
  });

  it('colors a model by the errors of the stage that compared its values, and leads to what other views say of a node', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    // verify-tiles reads the model too, and compares no inner values.
    await opened.go('/model?stage=quantize@backbone&color=error&node=backbone/body/layer1/0/bn3');
    await tab
      .locator('.canvas .picked')
      .getByText(/^\d+\.\d dB$/)
      .waitFor();
    const panel = tab.getByRole('complementary');
    await panel.getByText(/on the NPU; .* ms estimated for its unit; error \d+\.\d dB/).waitFor();
    await panel.getByRole('link', { name: 'where it runs' }).click();
    await tab.getByRole('complementary', { name: /^Unit backbone\/body\/layer1/ }).waitFor();
    await tab.goBack();
    await panel.getByRole('link', { name: 'its range and errors' }).click();
    await tab.getByText('elements, logarithmic').waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('keeps the names of a comparison in one line, and breaks long values', async () => {
    const opened = await page.open();
    await opened.go('/runs?of=r1,now&all=yes');
    await opened.page.locator('.comparison tbody').first().waitFor();
    const sizes = await opened.page.evaluate<readonly (readonly [name: string, rows: number])[]>(
      "[...document.querySelectorAll('.comparison tbody th code')].map(code => [code.textContent, code.getClientRects().length])",
    );
    expect(sizes.length).toBeGreaterThan(50);
    expect(sizes.filter(([name, rows]) => name.length < 20 && rows > 1)).toEqual([]);
  });

  it.each(['backbone', 'box_head', 'mask_head'])('cuts off no text of the call of %s over time', async model => {
    const opened = await page.open();
    await opened.go(`/compile?model=${model}`);
    await opened.page.locator('.gantt .tick').first().waitFor();
    const beyond = await opened.page.evaluate<readonly string[]>(`(() => {
      const { left, right } = document.querySelector('svg.gantt, .gantt svg').getBoundingClientRect();
      return [...document.querySelectorAll('.gantt text')]
        .filter(text => text.getBoundingClientRect().left < left || text.getBoundingClientRect().right > right)
        .map(({ textContent }) => textContent);
    })()`);
    expect(beyond).toEqual([]);
  });

  it('shows nothing of an output of a command that is no report of a board', async () => {
    const opened = await page.open();
    const asked = opened.page.waitForResponse(/stage=note/);
    await opened.go('/compile');
    await (await asked).finished();
    await opened.page.getByText('Roofline').waitFor();
    expect(await opened.page.getByRole('alert').allInnerTexts()).toEqual([]);
  });

  it.each([
    ['/results?judged=yes', 'judge-worker', 'The detections cannot be evaluated: a computation of the page has stopped'],
    ['/results', 'match-worker', 'a computation of the page has stopped'],
    ['/model?stage=quantize@backbone', 'layout-worker', 'a computation of the page has stopped'],
  ])('%s says so where its %s cannot be loaded, and does not wait for ever', async (at, worker, text) => {
    const opened = await page.open();
    await opened.page.route(`**/${worker}*`, route => route.abort());
    await opened.go(at);
    await opened.page.getByText(text).first().waitFor();
  });

  it('lists the images of the data set before the detections are there, and says that they are on their way', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => {
      release = resolve;
    });
    await tab.route(/artifact\?stage=evaluate-[^&]*&port=detections/, route => held.then(() => route.continue()));
    await tab.goto(`http://127.0.0.1:${page.server().port}/results#token=${page.server().token}`);
    await tab.getByRole('status').filter({ hasText: 'Loading and matching the detections' }).waitFor();
    const listed = await tab.getByRole('region', { name: 'Images of the data set' }).locator('tbody tr').count();
    expect(listed).toBeGreaterThan(5);
    expect(await tab.getByRole('button', { name: /^lost \d/ }).count()).toBe(0);
    release();
    await tab.getByRole('button', { name: /^lost \d/ }).waitFor();
    expect(await tab.getByText('Loading and matching').count()).toBe(0);
  });

  it('says why detections cannot be fetched, as the server says it', async () => {
    const opened = await page.open();
    const error = { code: 'ui-not-found', message: 'the detections are gone', help: 'build the stage' };
    await opened.page.route(/artifact\?stage=evaluate-[^&]*&port=detections/, route => route.fulfill({ status: 404, json: { error } }));
    await opened.go('/results');
    await opened.page.getByText('the detections are gone').waitFor();
    expect(await opened.page.getByText('Loading and matching').count()).toBe(0);
  });

  it('moves a graph by its transform alone while the sight stays near', async () => {
    const opened = await page.open();
    await opened.go('/model?stage=quantize@backbone');
    await opened.page.locator('.canvas .box').first().waitFor();
    const place = await opened.page.locator('.canvas').boundingBox();
    await opened.page.mouse.move((place?.x ?? 0) + 200, (place?.y ?? 0) + 200);
    // Away from the upper end, where a step of what is drawn begins.
    const transform = (): Promise<string | null> => opened.page.locator('.canvas .drawn').getAttribute('style');
    const first = await transform();
    await opened.page.mouse.wheel(0, 60);
    while ((await transform()) === first) await opened.page.waitForTimeout(20);
    await settle(opened);
    await opened.page.evaluate(
      `window.seen = []; new MutationObserver(all => seen.push(...all.map(one => one.type + ' ' + one.target.nodeName + ' ' + one.attributeName)))
        .observe(document.querySelector('.canvas'), { attributes: true, childList: true, subtree: true })`,
    );
    for (let i = 0; i < 8; i++) await opened.page.mouse.wheel(0, 4);
    const seen = (): Promise<readonly string[]> => opened.page.evaluate<readonly string[]>('seen');
    while ((await seen()).length === 0) await opened.page.waitForTimeout(20);
    expect([...new Set(await seen())]).toEqual(['attributes DIV style']);
    // Far away, other boxes are drawn.
    await opened.page.mouse.wheel(0, 3000);
    while (!(await seen()).some(one => one.startsWith('childList'))) await opened.page.waitForTimeout(20);
  });

  it('opens the same scopes in a model and in the one before', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/model?stage=quantize@backbone&before=rewrite@backbone.model');
    const scopes = async (side: 'before' | 'after'): Promise<readonly string[]> => {
      const labels = await tab
        .getByRole('region', { name: side })
        .getByRole('button', { name: /: open$/ })
        .evaluateAll(all => all.map(one => one.ariaLabel ?? ''));
      return labels.map(label => label.replace(/, \d+ nodes: open$/, '')).sort();
    };
    await tab
      .getByRole('region', { name: 'after' })
      .getByRole('button', { name: /: open$/ })
      .first()
      .waitFor();
    await tab.getByRole('button', { name: 'Close all' }).click();
    await expectSoon(async () => (await scopes('before')).join(), 'backbone,rpn');
    await expectSoon(async () => (await scopes('after')).join(), 'backbone,rpn');
    await tab
      .getByRole('region', { name: 'before' })
      .getByRole('button', { name: /^backbone,/ })
      .click();
    await expectSoon(async () => (await scopes('after')).join(), 'backbone/body,backbone/fpn,rpn');
    expect(await scopes('before')).toEqual(await scopes('after'));
  });

  it('draws every box and edge in sight soon after a fast move, as it draws them at once', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await openAll(opened);
    const place = await tab.locator('.canvas').boundingBox();
    await tab.mouse.move((place?.x ?? 0) + 200, (place?.y ?? 0) + 200);
    for (let i = 0; i < 40; i++) await tab.mouse.wheel(0, 60);
    await settle(opened);
    const moved = await inSight(opened);
    expect(moved.length).toBeGreaterThan(20);
    // Other colors: all of the sight is drawn at once.
    await tab.getByRole('combobox', { name: 'Color' }).selectOption('dtype');
    await tab.locator('.canvas .time', { hasText: 'float32' }).first().waitFor();
    await settle(opened);
    expect(await inSight(opened)).toEqual(moved);
  });

  it.each([
    ['/model?stage=quantize@box_head'],
    ['/model?stage=quantize@box_head&color=error'],
    ['/'],
  ])('keeps the texts of boxes inside of them in %s', async path => {
    const opened = await page.open();
    await opened.go(path);
    await opened.page.locator('.box').nth(5).waitFor();
    const outside = await opened.page.evaluate<readonly string[]>(`[...document.querySelectorAll('.box')].flatMap(box => {
        const { right } = box.querySelector('rect').getBoundingClientRect();
        return [...box.querySelectorAll('text')].filter(text => text.getBoundingClientRect().right > right).map(text => text.textContent);
      })`);
    expect(outside).toEqual([]);
  });

  it('keeps what has the focus in sight while the graph is walked by keyboard', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await openAll(opened);
    await tab.locator('.canvas .press').first().focus();
    const isSeen = (): Promise<boolean> =>
      tab.evaluate<boolean>(`(() => {
        const [own, all] = [document.activeElement, document.querySelector('.canvas')].map(one => one.getBoundingClientRect());
        return own.left >= all.left - 1 && own.right <= all.right + 1 && own.top >= all.top - 1 && own.bottom <= all.bottom + 1;
      })()`);
    for (let i = 0; i < 40; i++) {
      await tab.keyboard.press('Tab');
      while (!(await isSeen())) await tab.waitForTimeout(20);
    }
    expect(opened.heard).toEqual([]);
  });

  it('sorts the values of a model by their error, worst first', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/quantization?stage=quantize@backbone');
    await tab.getByRole('button', { name: 'Propagated' }).click();
    const cells = await tab.locator('.data tbody tr td:nth-child(4)').allInnerTexts();
    const numbers = cells.map(Number).filter(Number.isFinite);
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('shows an image with the objects of both sides, as many as are matched', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/results?left=evaluate-float&right=evaluate-int8');
    await tab.locator('.overlay image').first().waitFor({ state: 'attached' });
    const left = await tab.locator('.two figure:first-child rect.object').count();
    const right = await tab.locator('.two figure:last-child rect.object').count();
    const kinds = await tab.locator('.pair tbody td:nth-child(3)').allInnerTexts();
    const count = (kind: string): number => kinds.filter(one => one === kind).length;
    expect(left).toBe(kinds.length - count('found'));
    expect(right).toBe(kinds.length - count('lost'));
    expect(left).toBeGreaterThan(0);
  });

  it('computes a value as capture recorded it, and its quantized counterpart on the grid of its integers', async () => {
    const folder = page.project().path('artifacts/capture/captured');
    const { samples } = JSON.parse(readFileSync(`${folder}/index.json`, 'utf8')) as {
      readonly samples: readonly { readonly parts: Readonly<Record<string, { readonly file: string }>> }[];
    };
    const archive = await readNpz(`${folder}/${samples[1]?.parts.backbone?.file}`);
    const recorded = archive.get('output:feature_0').data as Float32Array;
    const view = await page
      .server()
      .json<TensorView>(
        'tensor?stage=rewrite@backbone&port=model&value=feature_0&captured=capture&sample=1&other-stage=quantize@backbone&other-port=model',
      );
    const own = decodeFloats(view.own.base64);
    expect(own.length).toBe(recorded.length);
    const most = Math.max(...recorded.map(Math.abs));
    // The sessions may fuse operators differently: float32 sums of some thousand products differ by some units in the last place.
    expect(Math.max(...own.map((value, index) => Math.abs(value - (recorded[index] ?? 0))))).toBeLessThan(1e-5 * most);

    const report = JSON.parse(readFileSync(page.project().path('artifacts/quantize@backbone/report.json'), 'utf8')) as QuantizationReport;
    const { scale = 0 } = report.activations.find(({ name }) => name === 'feature_0') ?? {};
    const steps = decodeFloats(view.other?.base64 ?? '').map(value => value / scale);
    expect(scale).toBeGreaterThan(0);
    expect(Math.max(...steps.map(step => Math.abs(step - Math.round(step))))).toBeLessThan(1e-3);
    expect(view.other?.figures.sqnrDb).toBeGreaterThan(15);
  });

  it('computes what each part of a detector is given for an image, as capture records it', async () => {
    const folder = page.project().path('artifacts/capture-val/captured');
    const { samples } = JSON.parse(readFileSync(`${folder}/index.json`, 'utf8')) as {
      readonly samples: readonly { readonly source: string; readonly parts: Readonly<Record<string, { readonly file: string }>> }[];
    };
    for (const [part, value] of [
      ['backbone', 'feature_0'],
      ['box_head', 'class_logits'],
    ] as const) {
      const archive = await readNpz(`${folder}/${samples[1]?.parts[part]?.file}`);
      const recorded = archive.get(`output:${value}`).data as Float32Array;
      const model = part === 'backbone' ? 'rewrite@backbone' : 'simplify@box_head';
      const view = await page
        .server()
        .json<TensorView>(`tensor?stage=${model}&port=model&value=${value}&of=evaluate-rewritten&image=${samples[1]?.source}`);
      const own = decodeFloats(view.own.base64);
      // The stage keeps the first 50 RoIs, and the page has all of them.
      expect(own.length).toBe((part === 'box_head' ? 200 / 50 : 1) * recorded.length);
      const most = Math.max(...recorded.map(Math.abs));
      // As above: sessions that end at another value may fuse operators differently.
      expect(Math.max(...recorded.map((one, index) => Math.abs(one - (own[index] ?? 0))))).toBeLessThan(1e-5 * most);
    }
    for (const query of ['of=evaluate-int8&image=../../pipeline.yaml', 'of=compile&image=a.jpg', 'of=evaluate-int8&image=none.jpg']) {
      const { status } = await page.server().ask(`/api/tensor?stage=rewrite@backbone&port=model&value=feature_0&${query}`);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
  });

  it('draws a mask for every object of a detector with masks, and none without', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/results?left=evaluate-float&right=evaluate-int8&image=1007');
    await tab.locator('.overlay path.mask').first().waitFor({ state: 'attached' });
    const count = (side: string, what: string): Promise<number> => tab.locator(`.two figure:${side}-child ${what}`).count();
    expect(await count('first', 'path.mask')).toBe(await count('first', 'rect.object'));
    await tab.getByLabel('masks').click();
    expect(await count('first', 'path.mask')).toBe(0);
    expect(await count('first', 'rect.object')).toBeGreaterThan(0);
  });

  describe('saved as one file by report', () => {
    const SAVED = VIEWS.filter(([at]) => !/^.(runs|tensor)|judged/.test(at));
    const file = (): string => page.project().path('artifacts/report/page.html');

    it.each(SAVED)('%s shows its content, and asks nobody for anything', async (at, text) => {
      const opened = await page.openAt(file(), { colorScheme: 'dark' });
      await opened.go(at);
      await opened.page.getByText(text).filter({ visible: true }).first().waitFor();
      expect(opened.heard).toEqual([]);
    });

    it('shows its views in a browser that does not tell when it is idle, as Safari', async () => {
      const opened = await page.openAt(file());
      await opened.page.addInitScript('delete window.requestIdleCallback');
      await opened.go('/compile');
      await opened.page.getByText('Roofline').waitFor();
      expect(opened.heard).toEqual([]);
    });

    it.each(['', '/results', '/compile'])('%s has no serious barrier', async at => {
      const opened = await page.openAt(file());
      await opened.go(at);
      await opened.page.locator('#app h1').waitFor();
      expect(await opened.findBarriers()).toEqual([]);
    });

    it('is small enough to mail, and shows its report first, and again on “back”', async () => {
      expect(statSync(file()).size).toBeLessThan(3_000_000);
      const opened = await page.openAt(file(), { viewport: { width: 360, height: 800 } });
      const { page: shown } = opened;
      await opened.go('');
      await shown.getByRole('heading', { name: 'Verification' }).waitFor();
      await shown.getByRole('link', { name: 'Results', exact: true }).click();
      await shown.getByRole('heading', { name: 'Results' }).waitFor();
      expect(await shown.getByRole('heading', { name: 'Verification' }).isVisible()).toBe(false);
      expect(await opened.overflow()).toBe(0);
      await shown.locator('.overlay image').first().waitFor({ state: 'attached' });
      await shown.goBack();
      await shown.getByRole('heading', { name: 'Verification' }).waitFor();
      expect(opened.heard).toEqual([]);
    });

    it('sorts the tables of its report by a click on a head, with units, and restores their order', async () => {
      const opened = await page.openAt(file());
      const { page: shown } = opened;
      await opened.go('');
      const table = shown.locator('#partition table').first();
      const cells = (): Promise<readonly string[]> => table.locator('tbody tr > :nth-child(7)').allInnerTexts();
      await table.waitFor();
      const before = await cells();
      const numbers = (texts: readonly string[]): readonly number[] => texts.map(text => Number(text.replace(/[^\d.e+-]/g, '')));
      const head = table.getByRole('button', { name: 'MACs', exact: true });
      await head.click();
      expect(numbers(await cells())).toEqual([...numbers(before)].sort((a, b) => b - a));
      expect(await table.locator('th[aria-sort="descending"]').innerText()).toContain('MACs');
      await head.click();
      expect(numbers(await cells())).toEqual([...numbers(before)].sort((a, b) => a - b));
      await head.click();
      expect(await cells()).toEqual(before);
      await shown.locator('section#partition').getByRole('link', { name: 'in the view Compile' }).click();
      await shown.getByRole('heading', { name: 'Compile' }).waitFor();
      expect(opened.heard).toEqual([]);
    });

    it('explains its columns and marks, and its names lead to the views', async () => {
      const opened = await page.openAt(file());
      const { page: shown } = opened;
      await opened.go('');
      const section = shown.locator('section#quantization');
      expect(await section.locator('th', { hasText: 'Propagated (dB)' }).getAttribute('title')).toContain('in the quantized model');
      expect(await shown.locator('section#accuracy .bar title').first().textContent()).toMatch(/^float, AP: 0\.\d{4}$/);
      await section
        .getByRole('link', { name: /^backbone\/body/ })
        .first()
        .click();
      await shown.getByText('elements, logarithmic').waitFor();
      expect(shown.url()).toContain('value=backbone');
      await shown.goBack();
      await shown.locator('section#partition').getByRole('link', { name: 'box_head', exact: true }).click();
      await shown.getByRole('heading', { name: 'Compile' }).waitFor();
      expect(shown.url()).toContain('model=box_head');
      expect(opened.heard).toEqual([]);
    });

    it('has the lost and found objects by masks, with a picture of both sides, and what kinds of error cost', async () => {
      const opened = await page.openAt(file());
      const { page: shown } = opened;
      await opened.go('/results');
      const rows = shown.getByRole('region', { name: 'Changes' }).locator('tbody tr');
      await rows.first().waitFor();
      expect(await rows.count()).toBe(12);
      await rows.first().locator('.cut-outs image').first().waitFor({ state: 'attached' });
      expect(await rows.locator('.mask').count()).toBeGreaterThan(4);
      expect(await shown.getByRole('region', { name: 'Kinds of error' }).locator('tbody tr').count()).toBe(8);
      await shown.getByText('mIoU').waitFor();
      expect(opened.heard).toEqual([]);
    });

    it('has the numbers of the live page', async () => {
      const cells = async (opened: OpenedPage): Promise<readonly string[]> => {
        await opened.go('/quantization?stage=quantize@backbone');
        await opened.page.locator('.data tbody tr').first().waitFor();
        return opened.page.locator('.data tbody tr').allInnerTexts();
      };
      const live = await cells(await page.open());
      expect(await cells(await page.openAt(file()))).toEqual(live);
      expect(live.length).toBeGreaterThan(30);
    });

    it('has all rows of a long table in the document when it is printed, and the visible ones afterwards', async () => {
      const opened = await page.openAt(file());
      await opened.go('/quantization?stage=quantize@backbone');
      const counts = await opened.page.evaluate<readonly number[]>(`(() => {
        const table = document.querySelector('.data[aria-label="Values"] table');
        const rows = () => table.querySelectorAll('tbody tr:not(.gap)').length;
        const before = rows();
        dispatchEvent(new Event('beforeprint'));
        const printed = rows();
        dispatchEvent(new Event('afterprint'));
        return [before, printed, Number(table.getAttribute('aria-rowcount'))];
      })()`);
      const [before = 0, printed = 0, all = 0] = counts;
      expect(before).toBeLessThan(all);
      expect(printed).toBe(all);
    });

    it('is printed in light colors, with tables as wide as the paper, also where the screen is dark', async () => {
      // A4 with the margins that a browser gives it, at 96 pixels per inch.
      const opened = await page.openAt(file(), { colorScheme: 'dark', viewport: { width: 718, height: 1000 } });
      await opened.go('/report');
      const ink = (): Promise<string> => opened.page.evaluate('getComputedStyle(document.body).color');
      const swatch = (): Promise<string> =>
        opened.page.evaluate("getComputedStyle(document.querySelector('.legend .key')).printColorAdjust");
      const [dark, light] = ['rgb(231, 233, 234)', 'rgb(27, 31, 35)'];
      expect(await ink()).toBe(dark);
      await opened.page.emulateMedia({ media: 'print' });
      expect(await ink()).toBe(light);
      await opened.page.evaluate("document.documentElement.dataset.scheme = 'dark'");
      expect(await ink()).toBe(light);
      expect(await swatch()).toBe('exact');
      // Also those of collapsed parts.
      expect(await opened.page.getByText('Stages in topological order').isVisible()).toBe(true);
      expect(await opened.overflow()).toBe(0);
    });

    it('goes to a section by its link again and again, and takes the focus there', async () => {
      const opened = await page.openAt(file());
      await opened.go('/report');
      const link = opened.page.locator('main:not([hidden]) .contents').getByText('Latency');
      for (let time = 0; time < 2; time++) {
        await opened.page.evaluate('scrollTo(0, 0)');
        await link.click();
        await opened.page.waitForFunction('scrollY > 0 && document.activeElement.id === "latency"');
        await opened.page.evaluate('document.activeElement.blur()');
      }
    });

    it('has the report of the live page', async () => {
      const texts = async (opened: OpenedPage): Promise<string> => {
        await opened.go('/report');
        await opened.page.locator('section#latency').waitFor();
        const all = await opened.page.locator('.report-section:not(#pipeline)').allInnerTexts();
        return all.join('\n');
      };
      const live = await texts(await page.open());
      expect(await texts(await page.openAt(file()))).toBe(live);
      expect(live.length).toBeGreaterThan(2_000);
    });

    it('is served by `tanren ui FOLDER`, where nothing can be started, and a damaged one is refused', async () => {
      const project = page.project();
      const saved = startTanren(project.folder, 'ui', 'artifacts/report', '--port', '0');
      const server = await findPage(saved);
      const opened = await page.openAt(server);
      await opened.go('/quantization?stage=quantize@backbone&value=backbone/body/layer1/0/bn3');
      await opened.page.getByText('elements, logarithmic').waitFor();
      expect(await opened.page.getByRole('button', { name: /Run|Keep in float/ }).count()).toBe(0);
      expect((await server.post('build', { targets: [] })).status).toBe(403);
      expect((await server.ask('/api/pipeline', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
      expect(opened.heard).toEqual([]);
      saved.kill();
      const text = readFileSync(file(), 'utf8');
      writeFileSync(project.path('cut.html'), text.replace(/(id="tanren-views">.{5000})[^<]*/, '$1'));
      writeFileSync(project.path('plain.html'), '<!doctype html><p>none');
      for (const name of ['cut.html', 'plain.html']) {
        const { exitCode, stderr } = project.tanren('ui', name);
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[ui-saved-page]')]);
      }
    });
  });
});

/** Opens the model of the quantized backbone with all of its scopes. */
async function openAll({ page, go }: OpenedPage): Promise<void> {
  await go('/model?stage=quantize@backbone');
  await page.getByRole('button', { name: 'Open all' }).click();
  await page.getByRole('region', { name: /^Graph of (?!80 )/ }).waitFor();
}

/** Waits until the drawing of a model's graph has stayed the same for a while. */
async function settle({ page }: OpenedPage): Promise<void> {
  const drawn = (): Promise<string> => page.locator('.canvas .drawn').innerHTML();
  for (let before = ''; ; await page.waitForTimeout(300)) {
    const now = await drawn();
    if (now === before) return;
    before = now;
  }
}

/** Names of boxes and paths of edges that can be seen, each once: an edge is in all tiles that it crosses. */
async function inSight({ page }: OpenedPage): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const sight = document.querySelector('.canvas').getBoundingClientRect();
    const isSeen = ({ left, right, top, bottom }) => right > sight.left && left < sight.right && bottom > sight.top && top < sight.bottom;
    const all = [...document.querySelectorAll('.canvas .body, .canvas .edge')].filter(one => isSeen(one.getBoundingClientRect()));
    return [...new Set(all.map(one => one.ariaLabel ?? one.getAttribute('d')))].sort();
  })()`);
}

async function expectSoon<T>(look: () => Promise<T>, expected: T): Promise<void> {
  const until = performance.now() + 5_000;
  for (;;) {
    const found = await look();
    if (found === expected || performance.now() > until) return expect(found).toEqual(expected);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
