/** The view "Runs" in a browser: a sweep is started and its configurations shown, and two runs are compared per class, per layer and by images. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComparisonView, RunsView } from '../../../src/web/views/runs-view.js';
import { describeInBrowser } from '../../support/browser.js';
import { givenPage } from '../../support/given-page.js';
import { givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';

describeInBrowser('the runs of a project', path => {
  let project: ShapesProject;
  const given = givenPage(path, () => {
    project = givenShapesProject(4);
    expect(project.build('evaluate-int8').exitCode).toBe(0);
    expect(project.build('-p', 'preset=a8w8', 'evaluate-int8').exitCode).toBe(0);
    return project;
  });
  const boxAp = async (): Promise<readonly number[]> => {
    const { moments } = await given.server().json<ComparisonView>('compare?of=r1,r2');
    return moments.map(({ stages }) => Number(stages['evaluate-int8']?.metrics['bbox.AP']));
  };

  /** The newest sweep again, over other numbers of images and without configurations. */
  const addSweepOf = (values: string): void => {
    const folder = join(project.folder, 'cache/state');
    const names = readdirSync(folder).filter(name => /^sweep-pipeline\.s\d+\.json$/.test(name));
    const number = Math.max(...names.map(name => Number(/\d+/.exec(name)?.[0])));
    const rows = JSON.parse(readFileSync(join(folder, `sweep-pipeline.s${number}.json`), 'utf8')) as { readonly axes: readonly object[] };
    const axes = rows.axes.map(axis => ({ ...axis, values: values.split(',').map(Number) }));
    writeFileSync(join(folder, `sweep-pipeline.s${number + 1}.json`), JSON.stringify({ ...rows, axes, configurations: [] }));
  };

  it('start a sweep with the form, follow it, and show every configuration; the pipeline stays as it is', async () => {
    const before = readFileSync(join(project.folder, 'pipeline.yaml'), 'utf8');
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/runs');
    await page.getByLabel('Vary', { exact: true }).fill('preset');
    await page.getByLabel('over', { exact: true }).fill('xint8,a8w8,a16w8');
    await page.getByRole('combobox', { name: 'Build' }).selectOption('quantize@box_head');
    await page.getByRole('button', { name: 'Start the sweep' }).click();
    await page.getByRole('region', { name: '3 configurations of s1' }).waitFor({ timeout: 60_000 });
    const rows = await page.getByRole('region', { name: '3 configurations of s1' }).getByRole('row').allInnerTexts();
    expect(
      rows
        .slice(1)
        .map(row => /xint8|a8w8|a16w8/.exec(row)?.[0])
        .sort(),
    ).toEqual(['a16w8', 'a8w8', 'xint8']);
    expect(await page.locator('.parallel .line').count()).toBeGreaterThanOrEqual(3);
    expect(readFileSync(join(project.folder, 'pipeline.yaml'), 'utf8')).toBe(before);
    expect(opened.heard).toEqual([]);
  });

  it('say why a sweep has no rows', async () => {
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/runs');
    await page.getByLabel('Vary', { exact: true }).fill('presett');
    await page.getByLabel('over', { exact: true }).fill('a,b');
    await page.getByRole('button', { name: 'Start the sweep' }).click();
    await page.locator('main').getByText('error[unknown-axis]').waitFor({ timeout: 60_000 });
  });

  it('are compared per class as their figures say, per layer, and by images', async () => {
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/runs?of=r1,r2&classes=evaluate-int8&layers=quantize@backbone');
    const classes = page.getByRole('region', { name: 'Classes' });
    await classes.waitFor();
    const cells = await classes
      .locator('tbody tr')
      .evaluateAll(rows =>
        rows.map(row => [...(row as { children: Iterable<{ textContent: string }> }).children].map(cell => cell.textContent)),
      );
    for (const [index, expected] of (await boxAp()).entries()) {
      const aps = cells.map(row => Number(row[index + 1])).filter(Number.isFinite);
      // Four digits are shown.
      expect(Math.abs(aps.reduce((sum, ap) => sum + ap, 0) / aps.length - expected)).toBeLessThan(1e-4);
    }
    await page.getByText(/values differ between r1 and r2/).waitFor();
    await page.getByRole('link', { name: 'the images of r1 and r2' }).click();
    await page.getByText('evaluate-int8 of r1').first().waitFor();
    await page.locator('.overlay image').first().waitFor({ state: 'attached' });
    expect(await opened.findBarriers()).toEqual([]);
    expect(opened.heard).toEqual([]);
  });

  it('have figures on 32 images, marked as a subset: those of `samples: 32`, and nothing of the whole changes', async () => {
    const read = (name: string): string => readFileSync(join(project.folder, name), 'utf8');
    const whole = ['evaluate-float', 'evaluate-int8'].map(stage => `artifacts/${stage}/metrics.json`);
    const before = whole.map(read);
    const runs = async (): Promise<number> => (await given.server().json<{ readonly runs: readonly unknown[] }>('runs')).runs.length;
    const count = await runs();
    const hasLock = existsSync(join(project.folder, 'pipeline.lock'));
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/results?left=evaluate-float&right=evaluate-int8');
    await page.getByRole('button', { name: 'Figures on 32 images' }).click();
    await page.getByText('subset: 32 images').waitFor({ timeout: 100_000 });
    const [, left, right] = /box AP ([\d.]+) → ([\d.]+)/.exec(await page.locator('main').innerText()) ?? [];
    expect(whole.map(read)).toEqual(before);
    expect(await runs()).toBe(count);
    expect(existsSync(join(project.folder, 'pipeline.lock'))).toBe(hasLock);
    expect(await page.getByText('outdated', { exact: true }).count()).toBe(0);
    addSweepOf('4,500');
    project.edit('pipeline.yaml', text => text.replaceAll('with: {samples: 4}', 'with: {samples: 32}'));
    await page.getByText('outdated', { exact: true }).waitFor();
    expect(await page.getByText('subset: 32 images').count()).toBe(1);
    expect(project.build('evaluate-float', 'evaluate-int8').exitCode).toBe(0);
    const aps = whole.map(name => Number(JSON.parse(read(name)).bbox.AP).toFixed(4));
    expect([left, right]).toEqual(aps);
    project.edit('pipeline.yaml', text => text.replaceAll('with: {samples: 32}', 'with: {samples: 4}'));
    await page.getByText('outdated', { exact: true }).waitFor({ state: 'detached' });
    expect(await page.getByText('subset: 32 images').count()).toBe(1);
    expect(opened.heard).toEqual([]);
  });

  it('have these figures after every change where that is asked for, and first those of the present', async () => {
    const sweeps = async (): Promise<number> =>
      (await given.server().json<{ readonly sweeps: readonly unknown[] }>('sweeps')).sweeps.length;
    const original = readFileSync(join(project.folder, 'pipeline.yaml'), 'utf8');
    const knob = (percentile: number): void =>
      project.edit('pipeline.yaml', text =>
        text.replace(
          /with: \{preset: "\$\{preset\}"[^}]*\}?\}/,
          `with: {preset: "\${preset}", range: {kind: percentile, percentile: ${percentile}}}`,
        ),
      );
    knob(99.9);
    expect(project.build('evaluate-float', 'evaluate-int8').exitCode).toBe(0);
    const count = await sweeps();
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/results?left=evaluate-float&right=evaluate-int8&subset=auto');
    const figures = async (): Promise<string> => /box AP [\d.]+ → [\d.]+/.exec(await page.locator('main').innerText())?.[0] ?? '';
    const shown = async (): Promise<string> => {
      await page.getByText('computing').waitFor();
      await page.getByText('computing').waitFor({ state: 'detached', timeout: 100_000 });
      await page.getByText('outdated', { exact: true }).waitFor({ state: 'detached' });
      // They are asked for when the sweep has ended.
      await page.getByText(/box AP [\d.]+ → /).waitFor();
      return figures();
    };
    const present = await shown();
    expect([await sweeps(), present]).toEqual([count + 1, expect.stringContaining('box AP')]);
    knob(97);
    const changed = await shown();
    expect(await sweeps()).toBe(count + 2);
    expect(changed).not.toBe(present);
    expect(changed.split('→')[0]).toBe(present.split('→')[0]);
    expect(opened.heard).toEqual([]);
    await page.close();
    project.edit('pipeline.yaml', () => original);
  });

  it('are one line over the parallel axes where they are equal, with their number; a press picks one', async () => {
    expect(project.build('evaluate-int8').exitCode).toBe(0);
    const { runs } = await given.server().json<RunsView>('runs');
    const newest = runs[0]?.run ?? '';
    expect(runs.find(({ run }) => run === 'r1')?.figures).toEqual(runs[0]?.figures);
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/runs');
    const chart = page.locator('.parallel').first();
    const line = chart.locator('.line', { hasText: newest });
    await line.waitFor({ state: 'attached' });
    expect((await line.textContent())?.split('\n').slice(0, 2)).toEqual([expect.stringMatching(/\br1\b/), `A click picks ${newest}.`]);
    expect(await chart.locator('.line').count()).toBeLessThan(runs.length);
    expect(await chart.locator('.count').allTextContents()).toContain('×2');
    await line.dispatchEvent('click');
    await chart.locator('.line.picked').waitFor({ state: 'attached' });
    expect(new URL(page.url()).searchParams.get('of') ?? page.url()).toContain(newest);
    expect(opened.heard).toEqual([]);
  });

  it.each(['r9', 'baseline:x', 'constructor', '../..'])('of %s have no artifacts', async of => {
    const { status } = await given.server().ask(`/api/artifact?stage=evaluate-int8&port=metrics&of=${encodeURIComponent(of)}`);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});
