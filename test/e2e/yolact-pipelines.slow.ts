/** The YOLACT pipelines run to the end: the narrow trained one with its figures, the one for public weights with a narrow network. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COCO_PATHS, makeProjectOf } from '../support/coco-project.js';
import { DIST, PROJECT } from '../support/shapes-project.js';
import { calmCocoState, TINY_RESNET } from '../support/tiny-yolact.js';

function build(cwd: string, file: string, ...args: readonly string[]) {
  const words = [join(DIST, 'bin/tanren.js'), 'build', '-f', file, ...args];
  return spawnSync(process.execPath, words, { cwd, encoding: 'utf8', timeout: 900_000 });
}

describe('pipelines/yolact-shapes.yaml', () => {
  let folder: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-yolact-')));
    mkdirSync(join(folder, 'pipelines'));
    cpSync(join(PROJECT, 'pipelines/yolact-shapes.yaml'), join(folder, 'pipelines/yolact-shapes.yaml'));
    writeFileSync(join(folder, 'package.json'), '{}');
    symlinkSync(join(PROJECT, 'examples'), join(folder, 'examples'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['a8w8', 'xint8'])('builds from checkpoint to report, every gate met, with %s', preset => {
    const { status, stdout, stderr } = build(folder, 'pipelines/yolact-shapes.yaml', '-p', `preset=${preset}`, '--json');
    expect([status, status === 0 ? '' : stderr + stdout]).toEqual([0, '']);
    expect(existsSync(join(folder, 'artifacts/yolact-shapes/report/page.html'))).toBe(true);
  });
});

describe('pipelines/yolact-coco.yaml', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeProjectOf('pipelines/yolact-coco.yaml', calmCocoState(TINY_RESNET), 2);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const few = ['evaluationImages=2', 'calibrationSamples=2', 'verifySamples=1'].flatMap(param => ['-p', param]);

  it('misses the published metric with other weights, and names it', () => {
    const { status, stdout, stderr } = build(folder, 'pipelines/yolact-coco.yaml', ...COCO_PATHS, ...few, 'evaluate-published');
    expect(status).toBe(1);
    expect(stdout + stderr).toContain('segm.AP >= 0.2955');
  });

  it('builds every stage, at 544 as at 550', () => {
    for (const side of [550, 544]) {
      const args = [...COCO_PATHS, ...few, '-p', 'publishedMask=0', '-p', `side=${side}`, '--json'];
      const { status, stdout, stderr } = build(folder, 'pipelines/yolact-coco.yaml', ...args);
      expect([side, status, status === 0 ? '' : stderr + stdout]).toEqual([side, 0, '']);
      const report = JSON.parse(readFileSync(join(folder, 'artifacts/yolact-coco/export/report.json'), 'utf8')) as object;
      expect(report).toMatchObject(side === 550 ? { upsampling: ['18 to 35', '35 to 69'] } : { upsampling: ['x2', 'x2'] });
    }
  });
});
