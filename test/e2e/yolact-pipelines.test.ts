/** The YOLACT pipelines plan: pipelines/yolact-coco.yaml with placeholders for its two paths, pipelines/yolact-shapes.yaml with the files of the project. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { COCO_PATHS, makeProjectOf } from '../support/coco-project.js';
import { DIST, PROJECT } from '../support/shapes-project.js';
import { calmCocoState, TINY_RESNET } from '../support/tiny-yolact.js';

const COCO = 'pipelines/yolact-coco.yaml';

function plan(cwd: string, file: string, ...args: readonly string[]) {
  const words = [join(DIST, 'bin/tanren.js'), 'build', '-f', file, '--dry-run', '--json', ...args];
  return spawnSync(process.execPath, words, { cwd, encoding: 'utf8', timeout: 300_000 });
}

const stagesOf = (stdout: string): string[] =>
  (JSON.parse(stdout) as { stages: readonly { stage: string }[] }).stages.map(({ stage }) => stage);

describe('pipelines/yolact-coco.yaml', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeProjectOf(COCO, calmCocoState(TINY_RESNET), 2);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('plans every stage once the paths are filled in', () => {
    expect(stagesOf(plan(folder, COCO, ...COCO_PATHS).stdout)).toEqual(
      expect.arrayContaining(['evaluate-published', 'quantize', 'compile', 'evaluate-int8', 'report']),
    );
  });

  it('names the path that is not filled in', () => {
    const { stdout, stderr } = plan(folder, COCO, '-p', 'coco=coco');
    expect(stdout + stderr).toContain('models/yolact_base_54_800000.pth does not exist');
  });
});

it('pipelines/yolact-shapes.yaml plans every stage', () => {
  expect(stagesOf(plan(PROJECT, 'pipelines/yolact-shapes.yaml').stdout)).toEqual(
    expect.arrayContaining([
      'export',
      'simplify',
      'capture',
      'calibrate',
      'quantize',
      'compile',
      'evaluate-float',
      'evaluate-int8',
      'report',
    ]),
  );
});
