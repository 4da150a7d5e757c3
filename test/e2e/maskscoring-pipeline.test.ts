/** pipelines/maskscoring-shapes.yaml plans with the files of the project; the slow suite builds it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DIST, PROJECT } from '../support/shapes-project.js';

it('pipelines/maskscoring-shapes.yaml plans every stage, four parts each', () => {
  const words = [join(DIST, 'bin/tanren.js'), 'build', '-f', 'pipelines/maskscoring-shapes.yaml', '--dry-run', '--json'];
  const { stdout } = spawnSync(process.execPath, words, { cwd: PROJECT, encoding: 'utf8', timeout: 300_000 });
  const stages = (JSON.parse(stdout) as { stages: readonly { stage: string }[] }).stages.map(({ stage }) => stage);
  for (const group of ['simplify', 'calibrate', 'quantize']) expect(stages.filter(stage => stage.startsWith(`${group}@`))).toHaveLength(4);
  expect(stages).toEqual(expect.arrayContaining(['export', 'parts', 'capture', 'verify-quantize', 'evaluate-int8', 'compile', 'report']));
});
