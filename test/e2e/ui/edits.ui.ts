/** An edit in the page changes `pipeline.yaml` and then the figures; it is shown first, applies to what was read, and is undone. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineView } from '../../../src/report/views/pipeline-data.js';
import type { EditPreview } from '../../../src/web/edit/edit-session.js';
import { describeInBrowser } from '../../support/browser.js';
import { givenPage } from '../../support/given-page.js';
import { findPage } from '../../support/page-client.js';
import { nameFocus, press } from '../../support/press-keys.js';
import { givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';
import { startTanren } from '../../support/start-tanren.js';

const VALUE = 'backbone/body/layer1/0/bn3';

describeInBrowser('an edit in the page', path => {
  let project: ShapesProject;
  let original: string;
  const file = (): string => join(project.folder, 'pipeline.yaml');
  const activations = (): readonly string[] =>
    JSON.parse(readFileSync(join(project.folder, 'artifacts/quantize@backbone/report.json'), 'utf8')).activations.map(
      ({ name }: { readonly name: string }) => name,
    );
  const given = givenPage(path, () => {
    project = givenShapesProject(4);
    expect(project.build('quantize').exitCode).toBe(0);
    original = readFileSync(file(), 'utf8');
    return project;
  });
  afterEach(() => writeFileSync(file(), original));

  it('is shown as a difference, written with all comments, rebuilt by a build, and undone with one click', async () => {
    const opened = await given.open();
    const { page } = opened;
    await opened.go(`/quantization?stage=quantize@backbone&value=${VALUE}`);
    await page.getByRole('button', { name: 'Keep in float' }).click();
    await page.getByText('stages.quantize.with.exclude').waitFor();
    expect(await page.locator('.diff .added').innerText()).toContain(`exclude: [{tensor: ${VALUE}, matches: any}]`);
    expect(readFileSync(file(), 'utf8')).toBe(original);

    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('✓ Written').waitFor();
    const edited = readFileSync(file(), 'utf8');
    expect(edited.match(/#.*$/gm)).toEqual(original.match(/#.*$/gm));
    expect(activations()).toContain(VALUE);
    const before = activations().length;
    expect(project.build('quantize@backbone').exitCode).toBe(0);
    expect(activations()).not.toContain(VALUE);
    expect(activations().length).toBeLessThan(before);
    await page.getByText(`${activations().length} activations`).waitFor();

    await page.getByRole('button', { name: 'Undo edit' }).click();
    await page.getByRole('button', { name: 'Undo edit' }).waitFor({ state: 'detached' });
    expect(readFileSync(file(), 'utf8')).toBe(original);
    expect(opened.heard).toEqual([]);
  });

  it('of a parameter is made at a stage that refers to it, undone beside what was written, and refused for another value', async () => {
    const opened = await given.open();
    const { page } = opened;
    await opened.go('/?stage=quantize@backbone');
    const field = page.getByRole('textbox', { name: 'preset' });
    // The page has read the file again: nothing is left to change, and after an undo the field has the former value.
    const isTaken = page.getByRole('button', { name: 'Change …', disabled: true });
    const holds = async (value: string): Promise<void> => {
      const until = performance.now() + 30_000;
      while ((await field.inputValue()) !== value && performance.now() < until) await page.waitForTimeout(20);
      expect(await field.inputValue()).toBe(value);
    };
    await field.fill('a8w8');
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByText('params.preset.default, line').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('✓ Written').waitFor();
    const edited = readFileSync(file(), 'utf8');
    expect(edited.split('\n').filter((line, index) => line !== original.split('\n')[index])).toEqual([
      expect.stringMatching(/^ {2}preset: .*default: a8w8/),
    ]);
    await isTaken.waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Taken back: params.preset.default').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(original);

    await holds('xint8');
    await field.fill('a16w8');
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('✓ Written').waitFor();
    await isTaken.waitFor();
    await page.getByRole('button', { name: 'Undo edit' }).click();
    // Also where the bar above takes it back.
    await page.getByText('Taken back: params.preset.default').waitFor();
    expect(await page.getByText('✓ Written').count()).toBe(0);
    expect(readFileSync(file(), 'utf8')).toBe(original);
    expect(opened.heard).toEqual([]);
    await holds('xint8');
    await field.fill('int5');
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByRole('alert').getByText('expected one of "xint8", "a8w8", "a16w8"').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(original);
  });

  it('of a broken file is not offered: each view says that the file has errors, and leads to them', async () => {
    writeFileSync(file(), original.replace('version: 1', 'version: 99'));
    const opened = await given.open();
    const { page } = opened;
    for (const at of ['/quantization?stage=quantize@backbone', '/results', '/compile', '/runs', '/report']) {
      await opened.go(at);
      await page.getByText('The pipeline file has errors, so that its stages are not known.').waitFor();
    }
    await page.getByRole('main').getByRole('link', { name: 'Pipeline' }).click();
    await page.getByRole('region', { name: 'Problems of the pipeline file' }).waitFor();
    expect(opened.heard).toEqual([]);
  });

  it('takes a fix that was tried, by the keyboard alone: the rule goes to the item of its model, and a build puts the model on the NPU', async () => {
    writeFileSync(file(), original.replace('rules: [{name: conv-transpose-depth-to-space}]', 'rules: []'));
    const before = readFileSync(file(), 'utf8');
    expect(before).not.toBe(original);
    const share = (): number =>
      JSON.parse(readFileSync(join(project.folder, 'artifacts/compile/metrics.json'), 'utf8')).mask_head.npuMacShare;
    project.build('compile');
    const own = share();
    expect(own).toBeLessThan(1);

    const opened = await given.open();
    const { page } = opened;
    await opened.go('/compile?model=mask_head');
    // The unit on the CPU is a part of its own, between two on the NPU.
    const parts = page.getByRole('region', { name: 'Graph of parts' });
    const onCpu = parts.getByRole('button', { name: /CPU/ });
    await onCpu.waitFor();
    expect(await parts.getByRole('button').count()).toBe(3);
    await onCpu.press('Enter');
    const units = page.getByRole('region', { name: 'Units', exact: true }).locator('tbody tr');
    await page.getByRole('button', { name: /alone: 1 units? ✕/ }).waitFor();
    expect(await units.allInnerTexts()).toEqual([expect.stringMatching(/ConvTranspose \+ Relu\s+CPU/)]);
    expect(await opened.findBarriers()).toEqual([]);
    await press(page, page.getByRole('button', { name: /alone: 1 units? ✕/ }));
    await units.nth(1).waitFor();
    await press(page, page.getByRole('button', { name: 'Try the fixes' }));
    const row = page.getByRole('row').filter({ hasText: 'conv-transpose-depth-to-space' });
    // The trial begins where the stage stands.
    await row.getByText(`${(100 * own).toFixed(1)}`).waitFor();
    await row.getByText('100.0').waitFor();
    await press(page, page.getByRole('button', { name: 'Apply conv-transpose-depth-to-space' }));
    await page.getByText('stages.rewrite.foreach.mask_head.rules').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(before);
    await press(page, page.getByRole('button', { name: 'Apply', exact: true }));
    await page.getByText('✓ Written').waitFor();
    expect(await nameFocus(page)).toBe('Apply conv-transpose-depth-to-space');
    expect(readFileSync(file(), 'utf8')).toBe(before.replace('rules: []', 'rules: [{name: conv-transpose-depth-to-space, matches: any}]'));
    const built = project.build('compile');
    expect([built.exitCode, built.exitCode === 0 ? '' : built.text]).toEqual([0, '']);
    expect(share()).toBe(1);
    await page.getByText('No unit is left to the CPU').waitFor();
    await press(page, page.getByRole('button', { name: 'Undo edit' }));
    await page.getByRole('button', { name: 'Undo edit' }).waitFor({ state: 'detached' });
    expect(await nameFocus(page)).not.toBe('');
    expect(readFileSync(file(), 'utf8')).toBe(before);
    expect(opened.heard).toEqual([]);
  });

  it('adds a stage for a rule where no stage rewrites the model, and compile reads what it makes', async () => {
    const order = { kind: 'rule', stage: 'compile', model: 'box_head', rule: 'split-slice' };
    const { status, body } = await given.server().post('preview-edit', order);
    expect([status, JSON.parse(body).place]).toEqual([200, expect.stringContaining('stages.rewrite-box_head, line')]);
    expect(readFileSync(file(), 'utf8')).toBe(original);
    const written = await given.server().post('edit', { ...order, digest: JSON.parse(body).digest });
    expect(written.status).toBe(200);
    const edited = readFileSync(file(), 'utf8');
    expect(edited.match(/#.*$/gm)).toEqual(original.match(/#.*$/gm));
    const { executed, exitCode } = project.build('compile');
    expect(exitCode).toBe(0);
    // The rule matches nothing in this model, whose bytes stay: compile is up to date.
    expect(executed).toEqual(['rewrite-box_head']);
    const { stages } = await given.server().json<PipelineView>('pipeline');
    const reads = stages.find(({ id }) => id === 'compile')?.inputs.find(({ name }) => name === 'models.box_head');
    expect(reads).toEqual({ name: 'models.box_head', stage: 'rewrite-box_head', port: 'model' });
    expect((await given.server().post('undo', { left: JSON.parse(written.body).left })).status).toBe(200);
    expect(readFileSync(file(), 'utf8')).toBe(original);
  });

  const edit = { kind: 'override', stage: 'quantize@backbone', value: VALUE, set: { range: { low: -4, high: 4 } } };
  const preview = async (
    change: object = {},
  ): Promise<{ status: number; body: EditPreview & { error?: { code: string; message: string } } }> => {
    const { status, body } = await given.server().post('preview-edit', { ...edit, ...change });
    return { status, body: JSON.parse(body) };
  };

  it('applies to the file as it was read: another save in between refuses it', async () => {
    const { body } = await preview();
    writeFileSync(file(), `${original}# a later thought\n`);
    const refused = await given.server().post('edit', { ...edit, digest: body.digest });
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([409, 'ui-edit-changed']);
    expect(readFileSync(file(), 'utf8')).toBe(`${original}# a later thought\n`);
  });

  it('refused because of another save says so, shows the difference to the new file, and is applied to that', async () => {
    const { page, go } = await given.open();
    await go(`/quantization?stage=quantize@backbone&value=${VALUE}`);
    await page.getByRole('button', { name: 'Keep in float' }).click();
    await page.getByText('stages.quantize.with.exclude').waitFor();
    const number = page.locator('.diff .added .number').first();
    const before = Number(await number.innerText());
    writeFileSync(file(), `# a later thought\n${original}`);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('the pipeline file was changed since it was read').waitFor();
    await page
      .locator('.diff .added .number', { hasText: String(before + 1) })
      .first()
      .waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(`# a later thought\n${original}`);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('✓ Written').waitFor();
    const edited = readFileSync(file(), 'utf8');
    expect(edited.startsWith('# a later thought\n')).toBe(true);
    expect(edited).toContain(`exclude: [{tensor: ${VALUE}, matches: any}]`);
  });

  it('of two pages at once is each taken back by its own page, the later one first', async () => {
    const [one, other] = [await given.open(), await given.open()];
    const set = async ({ page, go }: typeof one, end: string): Promise<string> => {
      await go(`/quantization?stage=quantize@backbone&value=${VALUE}`);
      await page.getByLabel('low end of the range').fill(`-${end}`);
      await page.getByLabel('high end of the range').fill(end);
      await page.getByRole('button', { name: 'Set range' }).click();
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('✓ Written').waitFor();
      return readFileSync(file(), 'utf8');
    };
    const first = await set(one, '4');
    const second = await set(other, '6');
    expect(second).not.toBe(first);
    const undoAt = ({ page }: typeof one) => page.getByRole('main').getByRole('button', { name: 'Undo', exact: true });
    await undoAt(one).click();
    await one.page.getByRole('alert').getByText('by the edit of stages.quantize.with.overrides.0').waitFor();
    expect(await one.page.getByText('Taken back:').count()).toBe(0);
    expect(readFileSync(file(), 'utf8')).toBe(second);
    await undoAt(other).click();
    await other.page.getByText('Taken back: stages.quantize.with.overrides.0, line').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(first);
    await undoAt(one).click();
    await one.page.getByText('Taken back: stages.quantize.with.overrides, line').waitFor();
    expect(await one.page.getByRole('alert').count()).toBe(0);
    expect(readFileSync(file(), 'utf8')).toBe(original);
  });

  it('is not undone where the file was changed since', async () => {
    const { body } = await preview();
    const written = await given.server().post('edit', { ...edit, digest: body.digest });
    expect(written.status).toBe(200);
    const edited = readFileSync(file(), 'utf8');
    expect(edited).not.toBe(original);
    writeFileSync(file(), `${edited}# mine\n`);
    const refused = await given.server().post('undo', { left: JSON.parse(written.body).left });
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([409, 'ui-edit-changed']);
  });

  it('that the plugin refuses is not written', async () => {
    const { status, body } = await preview({ set: { dtype: 'int5' } });
    expect([status, body.error?.code]).toEqual([409, 'ui-edit-invalid']);
    expect(readFileSync(file(), 'utf8')).toBe(original);
  });

  it.each([
    { stage: 'evaluate-int8' },
    { stage: 'none' },
    { value: 7 },
    { set: { run: 'x' } },
    { set: {} },
    { kind: 'delete' },
  ])('with %j is no edit', async change => {
    const { status, body } = await preview(change);
    expect([status, body.error?.code]).toEqual([400, 'ui-bad-request']);
  });

  it('changes no file of a page that is read-only', async () => {
    const readOnly = startTanren(project.folder, 'ui', '--port', '0', '--read-only');
    const page = await findPage(readOnly);
    for (const name of ['preview-edit', 'edit', 'undo']) expect((await page.post(name, edit)).status).toBe(403);
    readOnly.kill();
  });
});
