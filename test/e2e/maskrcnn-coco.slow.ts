/** pipelines/maskrcnn-coco.yaml runs from weights to figures, bundle and page, with a narrow network and on landscape and portrait photographs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COCO_PATHS, COCO_PIPELINE, makeCocoProject } from '../support/coco-project.js';
import { DIST } from '../support/shapes-project.js';
import { TINY_V2 } from '../support/tiny-maskrcnn.js';

describe('pipelines/maskrcnn-coco.yaml', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeCocoProject({ ...TINY_V2, classes: 91 }, 2);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const few = ['evaluationImages=2', 'calibrationSamples=2', 'verifySamples=1', 'roiBatch=4'].flatMap(param => ['-p', param]);
  const build = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(DIST, 'bin/tanren.js'), 'build', '-f', COCO_PIPELINE, ...COCO_PATHS, ...few, ...args], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 600_000,
    });

  it('misses the published metrics with other weights, and names them', () => {
    const { status, stdout, stderr } = build('evaluate-published');
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('bbox.AP >= 0.4735');
  });

  it('builds every stage', () => {
    const { status, stdout, stderr } = build('-p', 'publishedBox=0', '-p', 'publishedMask=0', '--json');
    expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
    const { stages } = JSON.parse(stdout) as { stages: readonly { outcome: { kind: string } }[] };
    expect(stages.length).toBeGreaterThan(20);
    expect(new Set(stages.map(({ outcome }) => outcome.kind))).toEqual(new Set(['executed', 'up-to-date']));
    expect(existsSync(join(folder, 'artifacts/maskrcnn-coco/report/page.html'))).toBe(true);
    const recipe = JSON.parse(readFileSync(join(folder, 'artifacts/maskrcnn-coco/export/recipe.json'), 'utf8')) as object;
    expect(recipe).toMatchObject({ image: { height: 800, width: 1344, fit: 'static' }, config: { numClasses: 91 } });
  });
});
