/** pipelines/maskrcnn-coco.yaml plans once its two paths are given, and names the missing ones without them. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
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

  const plan = (...args: readonly string[]) => {
    const words = [join(DIST, 'bin/tanren.js'), 'build', '-f', COCO_PIPELINE, '--dry-run', '--json', ...args];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8', timeout: 300_000 });
    return { stdout, stderr };
  };

  it('plans every stage once the paths are filled in', () => {
    const { stages } = JSON.parse(plan(...COCO_PATHS).stdout) as { stages: readonly { stage: string; kind: string }[] };
    expect(stages.map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['evaluate-published', 'quantize@backbone', 'compile', 'evaluate-int8', 'report']),
    );
    expect(new Set(stages.map(({ kind }) => kind))).toEqual(new Set(['stale', 'undecided']));
  });

  it('names the path that is not filled in', () => {
    const { stdout, stderr } = plan('-p', 'coco=coco');
    expect(stdout + stderr).toContain('models/maskrcnn_resnet50_fpn_v2_coco-73cbd019.pth does not exist');
  });
});
