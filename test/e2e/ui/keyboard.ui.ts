/** Every journey through the page with the keyboard alone: Tab reaches what is needed, Enter and Space use it, Escape closes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeInBrowser } from '../../support/browser.js';
import { givenPage } from '../../support/given-page.js';
import { nameFocus, press, reach } from '../../support/press-keys.js';
import { givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';

describeInBrowser('the keyboard', path => {
  let project: ShapesProject;
  const given = givenPage(path, () => {
    project = givenShapesProject(3);
    for (const targets of [
      ['evaluate-float', 'evaluate-int8', 'compile', 'verify-quantize'],
      ['-p', 'preset=a8w8', 'quantize@box_head'],
    ])
      expect(project.build(...targets).exitCode).toBe(0);
    return project;
  });

  it('skips to the content, filters results, exports them, picks an image, hides masks, and opens its tensors', async () => {
    const { page, go, heard } = await given.open();
    await go('/results?left=evaluate-float&right=evaluate-int8');
    await press(page, page.getByRole('button', { name: 'Skip to the content' }));
    expect(await page.evaluate('document.activeElement?.id')).toBe('main');
    await press(page, page.getByRole('button', { name: /^equal \d/ }));
    await page.locator('.choice [aria-pressed="true"]', { hasText: 'equal' }).waitFor();
    const count = Number(/\d+/.exec(await page.getByRole('button', { name: /^equal \d/ }).innerText())?.[0]);
    const download = page.waitForEvent('download');
    await press(page, page.getByRole('button', { name: 'Export the list' }));
    const [head, ...lines] = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(head).toBe('image,file,kind,class,left score,right score,left mask score,right mask score,iou,x,y,width,height');
    expect(lines.map(line => line.split(',')[2])).toEqual(Array(count).fill('equal'));
    await press(page, page.locator('.results .data tbody button').nth(1));
    await page.waitForURL(/image=/);
    await press(page, page.getByLabel('masks'), 'Space');
    await page.waitForURL(/masks=off/);
    await press(page, page.getByRole('link', { name: 'its tensors' }));
    await page.getByRole('heading', { name: 'Tensor' }).waitFor();
    expect(heard).toEqual([]);
  });

  it('picks a value, copies its name, previews an edit, discards it, and closes the value', async () => {
    const before = readFileSync(join(project.folder, 'pipeline.yaml'), 'utf8');
    const { page, go, heard } = await given.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await go('/quantization?stage=quantize@box_head');
    await press(page, page.locator('.data tbody button').first());
    await page.getByRole('complementary').waitFor();
    await press(page, page.getByRole('button', { name: 'Copy the name of the value' }));
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('box_features');
    await press(page, page.getByRole('button', { name: 'Keep in float' }));
    await page.locator('.diff .added').waitFor();
    await press(page, page.getByRole('button', { name: 'Discard' }));
    await page.locator('.diff').waitFor({ state: 'detached' });
    expect(await nameFocus(page)).toBe('Keep in float');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await nameFocus(page)).toBe('box_features');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(readFileSync(join(project.folder, 'pipeline.yaml'), 'utf8')).toBe(before);
    expect(heard).toEqual([]);
  });

  it('picks a unit, and goes to its node in the model', async () => {
    const { page, go, heard } = await given.open();
    await go('/compile');
    await press(
      page,
      page.getByRole('region', { name: 'Models, with estimated times' }).getByRole('button', { name: 'box_head', exact: true }),
    );
    await page.waitForURL(/model=box_head/);
    await press(page, page.getByRole('region', { name: 'Units', exact: true }).locator('tbody button').nth(1));
    await press(page, page.getByRole('link', { name: 'in the model' }));
    await page.getByRole('heading', { name: 'Model' }).first().waitFor();
    await page.getByText('Attributes').waitFor();
    expect(heard).toEqual([]);
  });

  it('goes to a section of the report, sorts a table, and follows a name to its view', async () => {
    const { page, go, heard } = await given.open();
    await go('/report');
    await press(page, page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Quantization' }));
    await page.waitForURL(/at=quantization/);
    const table = page.locator('#quantization table');
    await press(page, table.getByRole('button', { name: 'Propagated (dB)' }), 'Space');
    await table.locator('th[aria-sort="ascending"]').waitFor();
    await press(page, table.getByRole('link', { name: /\// }));
    await page.getByText('elements, logarithmic').waitFor();
    expect(heard).toEqual([]);
  });

  it('picks two runs, compares them, and starts a sweep', async () => {
    const { page, go, heard } = await given.open();
    await go('/runs');
    await press(page, page.getByRole('checkbox', { name: 'r1' }), 'Space');
    await press(page, page.getByRole('checkbox', { name: 'r2' }), 'Space');
    await page.getByRole('heading', { name: 'r1 · r2' }).waitFor();
    await reach(page, page.getByLabel('Vary', { exact: true }));
    await page.keyboard.type('quantize@box_head.preset');
    await reach(page, page.getByLabel('over', { exact: true }));
    await page.keyboard.type('xint8,a16w8');
    await press(page, page.getByRole('button', { name: 'Start the sweep' }));
    await page.getByRole('region', { name: '2 configurations of s1' }).waitFor({ timeout: 90_000 });
    expect(heard).toEqual([]);
  });

  it('saves a run as a baseline, and compares with it', async () => {
    const { page, go, heard } = await given.open();
    await go('/runs');
    await press(page, page.getByRole('checkbox', { name: 'r1' }), 'Space');
    await reach(page, page.getByLabel('Save r1 as baseline'));
    await page.keyboard.type('first');
    await page.keyboard.press('Enter');
    await page.getByText('✓ written: baselines/first.json').waitFor();
    expect(JSON.parse(readFileSync(join(project.folder, 'baselines/first.json'), 'utf8'))).toBeInstanceOf(Object);
    await press(page, page.getByRole('checkbox', { name: 'baseline first' }), 'Space');
    await page.getByRole('heading', { name: /^r1 · .*first$/ }).waitFor();
    await press(page, page.getByRole('checkbox', { name: 'also what is equal' }), 'Space');
    await page.getByRole('row').filter({ hasText: 'bbox.AP50' }).first().waitFor();
    expect(heard).toEqual([]);
  });

  it('puts another model beside a model, goes through what changed, and picks a node', async () => {
    const { page, go, heard } = await given.open();
    await go('/model?stage=quantize@box_head');
    await reach(page, page.getByLabel('Compare with'));
    await page.keyboard.type('simplify@box_head');
    await page.getByText('Before: simplify@box_head.model').waitFor();
    await press(page, page.getByRole('button', { name: /^changed \d/ }));
    await press(page, page.getByRole('region', { name: 'Changed nodes' }).locator('tbody button'));
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await nameFocus(page)).not.toBe('');
    expect(heard).toEqual([]);
  });

  it('starts a build and cancels it, and keeps the focus', async () => {
    const { page, go, heard } = await given.open();
    await go('/');
    await press(page, page.getByRole('button', { name: 'Run all' }));
    const cancel = page.getByRole('button', { name: 'Cancel' });
    await cancel.waitFor();
    expect(await nameFocus(page)).toBe('Run all');
    await press(page, cancel);
    await cancel.waitFor({ state: 'detached', timeout: 60_000 });
    expect(await nameFocus(page)).toBe('Run all');
    expect(heard).toEqual([]);
  });

  it('picks a stage, and reads its log', async () => {
    const { page, go, heard } = await given.open();
    await go('/?as=list');
    await press(page, page.locator('.data tbody button, table tbody button').first());
    await page.getByRole('complementary').waitFor();
    await press(page, page.getByRole('complementary').getByRole('button', { name: /Close/ }));
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(heard).toEqual([]);
  });

  it('lists its keys, changes the view and finds the search field by one, types them into fields, and can turn them off', async () => {
    const opened = await given.open();
    const { page, go, heard } = opened;
    await go('/');
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys' });
    await list.waitFor();
    expect(await opened.findBarriers()).toEqual([]);
    expect(await list.locator('dt').count()).toBeGreaterThan(10);
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await page.keyboard.press('5');
    await page.getByRole('heading', { name: 'Quantization' }).waitFor();
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('relu2?1');
    expect(await page.getByRole('searchbox').inputValue()).toBe('relu2?1');
    expect(await list.isVisible()).toBe(false);
    await press(page, page.getByRole('button', { name: 'Keys' }));
    await press(page, page.getByLabel('single keys of the page'), 'Space');
    await press(page, list.getByRole('button', { name: 'Close' }));
    await list.waitFor({ state: 'hidden' });
    await page.keyboard.press('3');
    expect(page.url()).toContain('/quantization');
    expect(heard).toEqual([]);
  });

  it('changes a parameter at a stage, and undoes it', async () => {
    const pipeline = join(project.folder, 'pipeline.yaml');
    const before = readFileSync(pipeline, 'utf8');
    const { page, go, heard } = await given.open();
    await go('/?as=list&stage=quantize@backbone');
    await reach(page, page.getByRole('textbox', { name: 'preset' }));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('a16w8');
    await page.keyboard.press('Enter');
    await page.locator('.diff .added').waitFor();
    await press(page, page.getByRole('button', { name: 'Apply', exact: true }));
    await page.getByText('✓ Written').waitFor();
    expect(readFileSync(pipeline, 'utf8')).not.toBe(before);
    await press(page, page.getByRole('button', { name: 'Undo', exact: true }));
    await page.getByText('Taken back').waitFor();
    expect(await nameFocus(page)).not.toBe('');
    expect(readFileSync(pipeline, 'utf8')).toBe(before);
    expect(heard).toEqual([]);
  });
});
