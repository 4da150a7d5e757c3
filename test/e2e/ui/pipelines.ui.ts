/** Every view on other pipelines than the default one: YOLACT's, a classifier's, and one that is empty. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorView } from '../../../src/web/model/tensor-view.js';
import { decodeFloats } from '../../../src/web/page/tensor/tensor-data.js';
import { describeInBrowser } from '../../support/browser.js';
import { type GivenPage, givenPage } from '../../support/given-page.js';
import { givenShapesProject } from '../../support/shapes-project.js';
import { addSmallClassifier, HOSTILE_IMAGE } from '../../support/small-classifier.js';
import { runTanren } from '../../support/start-tanren.js';

type Views = readonly (readonly [at: string, text: string])[];

function itShows(page: GivenPage<{ readonly folder: string; remove(): void }>, views: Views): void {
  it.each(views)('%s shows its content, logs nothing and has no serious barrier', async (at, text) => {
    const opened = await page.open({ colorScheme: 'dark' });
    await opened.go(at);
    await opened.page.getByText(text).filter({ visible: true }).first().waitFor();
    expect(await opened.findBarriers()).toEqual([]);
    expect(await opened.findFaintTexts()).toEqual([]);
    expect(opened.heard).toEqual([]);
  });

  it.each([360, 2560])('no view is wider than a window of %i pixels', async width => {
    const opened = await page.open({ viewport: { width, height: 800 } });
    for (const [at] of views) {
      await opened.go(at);
      expect([at, await opened.overflow()]).toEqual([at, 0]);
    }
  });
}

describeInBrowser("the page of YOLACT's pipeline", path => {
  const page = givenPage(
    path,
    () => {
      const project = givenShapesProject(3);
      expect(project.build('-f', 'pipelines/yolact-shapes.yaml').exitCode).toBe(0);
      return project;
    },
    'pipelines/yolact-shapes.yaml',
  );

  itShows(page, [
    ['/', 'verify-quantize'],
    ['/?stage=quantize', 'Action key'],
    ['/runs?of=r1,now&all=yes&layers=quantize&classes=evaluate-int8', 'Per layer'],
    ['/results?truth=on', 'AP75'],
    ['/results?judged=yes', 'too little overlap'],
    ['/quantization?stage=quantize', 'Propagated'],
    ['/compile', 'One call over time'],
    ['/compile?unit=4', 'its range and errors'],
    ['/model?stage=quantize&before=simplify.model', 'added'],
    ['/tensor?stage=quantize', 'All channels'],
  ]);

  it('draws the masks that its prototypes make', async () => {
    const opened = await page.open();
    await opened.go('/results?left=evaluate-float&right=evaluate-int8');
    await opened.page.locator('.overlay path.mask').first().waitFor({ state: 'attached' });
    const [masks, boxes] = await Promise.all(
      ['path.mask', 'rect.object'].map(what => opened.page.locator(`.two figure:first-child ${what}`).count()),
    );
    expect(masks).toBe(boxes);
  });
});

describeInBrowser("the page of a classifier's pipeline", path => {
  const page = givenPage(
    path,
    async () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'classifier-')));
      await addSmallClassifier(folder);
      const { exitCode, stderr } = runTanren(folder, 'build', '-f', 'classifier.yaml');
      expect([exitCode, stderr]).toEqual([0, expect.anything()]);
      return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
    },
    'classifier.yaml',
  );

  itShows(page, [
    ['/', 'classes-int8'],
    ['/?stage=classes-int8', 'Action key'],
    ['/runs?of=r1,now&all=yes', 'Duration'],
    ['/results', 'Confused classes'],
    ['/quantization', 'activations'],
    ['/compile', 'One call over time'],
    ['/model?stage=quantize&before=simplify.model', 'added'],
    ['/tensor?stage=quantize', 'largest difference'],
  ]);

  it('opens the tensors of an image, those of the model that the stage evaluates, for a name with markup too', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/results?kind=wrong');
    await tab.getByRole('link', { name: 'its tensors' }).click();
    await tab.getByText(`Image ${HOSTILE_IMAGE} of classes-int8`).waitFor();
    // The scores of three classes, which are the output of the model, are one row.
    await tab.getByText(/^\[1, 3\]; beside scores: SQNR .*largest difference/).waitFor();
    await tab.getByText('Channel 0 of 1').waitFor();
    await tab.getByRole('link', { name: 'its predictions' }).click();
    await tab.getByRole('img', { name: HOSTILE_IMAGE }).waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('computes the scores of an image as the stage does', async () => {
    const predictions = JSON.parse(
      readFileSync(join(page.project().folder, 'artifacts/classifier/classes-int8/predictions.json'), 'utf8'),
    ) as readonly {
      readonly file: string;
      readonly classes: readonly number[];
      readonly scores: readonly number[];
    }[];
    expect(predictions.length).toBe(4);
    for (const { file, classes, scores } of predictions) {
      const query = `stage=quantize&port=model&value=scores&of=classes-int8&image=${encodeURIComponent(file)}`;
      const { own } = await page.server().json<TensorView>(`tensor?${query}`);
      const values = decodeFloats(own.base64);
      // The page ends its session at the value; the scores are multiples of one scale, so only another integer would differ.
      for (const [index, one] of classes.entries()) expect(values[one]).toBeCloseTo(scores[index] ?? Number.NaN, 5);
    }
    for (const image of ['../classifier.yaml', 'none.png'])
      expect((await page.server().ask(`/api/tensor?stage=quantize&port=model&value=scores&of=classes-int8&image=${image}`)).status).toBe(
        404,
      );
  });

  it('shows predictions of both sides, and a file name with markup as text', async () => {
    const opened = await page.open();
    const { page: tab } = opened;
    await opened.go('/results?kind=wrong');
    await tab.getByRole('button', { name: HOSTILE_IMAGE }).waitFor();
    await tab.getByRole('img', { name: HOSTILE_IMAGE }).waitFor();
    expect(await tab.getByRole('region', { name: 'Confused classes' }).locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^2\s+1\s+1\s+1$/),
    ]);
    await opened.go('/results?kind=right');
    await tab.getByRole('button', { name: 'r.png' }).waitFor();
    const figures = tab.getByRole('region', { name: 'Figures' });
    expect(await figures.locator('tbody tr').first().innerText()).toMatch(/^top-1 accuracy\s+75\.0\s%\s+75\.0\s%\s0\spp$/);
    const download = tab.waitForEvent('download');
    await tab.getByRole('button', { name: 'Export the list' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8').split('\r\n');
    expect(lines.slice(1, -1).map(line => line.split(',').slice(1, 3).join())).toEqual(['2,right', '1,right', '0,right']);
    expect(await tab.locator('.results .data tbody tr').count()).toBe(3);
    expect(opened.heard).toEqual([]);
  });
});

describeInBrowser('the page of a project in which nothing is built', path => {
  const page = givenPage(path, () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'empty-')));
    writeFileSync(
      join(folder, 'pipeline.yaml'),
      'version: 1\nsources: {a: pipeline.yaml}\nstages:\n  "x": {uses: command, with: {run: [cp, a, b], inputs: {a: a}, outputs: {b: b}}, inputs: {a: "${sources.a}"}}\n',
    );
    return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
  });

  it.each([
    ['/', 'would run'],
    [`/?stage=${'x'.repeat(400)}`, 'The pipeline has no stage'],
    ['/runs', 'No build has changed a result yet'],
    ['/results', 'No built stage has detections'],
    ['/quantization', 'has no stage that uses'],
    ['/compile', 'nothing is placed on a target'],
    ['/model', 'model'],
    ['/tensor', 'no values to compute'],
    ['/none', 'There is no view'],
    ['/results?left=%3Cb%3E&kind=%00&image=..%2F..', 'No built stage has detections'],
    ['/runs?of=r1,baseline:%3Cb%3E&sweep=s1&x=%3Cscript%3E', 'No build has changed a result yet'],
  ])('%s says so, and breaks on nothing in its address', async (at, text) => {
    const opened = await page.open({ viewport: { width: 360, height: 740 } });
    await opened.go(at);
    await opened.page.getByText(text).filter({ visible: true }).first().waitFor();
    expect(await opened.overflow()).toBeLessThanOrEqual(0);
    expect(opened.heard).toEqual([]);
  });
});
