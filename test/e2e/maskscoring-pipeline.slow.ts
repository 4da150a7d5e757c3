/** Mask Scoring R-CNN goes from its checkpoint to int8 figures, bundle and page through the command line, on all images. */
import { readFileSync } from 'node:fs';
import { keyOf } from '../../src/report/saved/answer-key.js';
import { findAnswer } from '../../src/report/saved/find-answer.js';
import { findAnswers } from '../../src/report/saved/saved-answers.js';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

/** The original code on these images, by pycocotools. */
const ORIGINAL = { bbox: 0.6803933338540449, segm: 0.5259184363867215 };

interface Scored {
  readonly score: number;
  readonly mask_score: number;
}

const PIPELINE = ['-f', 'pipelines/maskscoring-shapes.yaml'] as const;

describe('pipelines/maskscoring-shapes.yaml', () => {
  let project: ShapesProject;
  beforeAll(() => {
    project = givenShapesProject('all');
  });
  afterAll(() => project.remove());

  it('builds with every gate met, and nothing the second time', () => {
    const built = project.build(...PIPELINE);
    expect([built.exitCode, built.failed]).toEqual([0, []]);
    expect(built.text.match(/✓ gate/g)).toHaveLength(5);
    const float = built.stages.get('evaluate-float')?.metrics;
    for (const type of ['bbox', 'segm'] as const)
      expect(Math.abs((float?.[type]?.AP as unknown as number) - ORIGINAL[type])).toBeLessThan(0.002);
    expect(project.build(...PIPELINE).executed).toEqual([]);
  });

  it('writes detections with both scores, and a page that shows both', () => {
    const { stages } = project.build(...PIPELINE);
    const read = (stage: string, port: string): string => readFileSync(project.path(stages.get(stage)?.artifacts[port] ?? ''), 'utf8');
    const haveBoth = (found: readonly Scored[]): boolean => found.every(({ score, mask_score }) => mask_score > 0 && mask_score !== score);
    const found = JSON.parse(read('evaluate-int8', 'detections')) as readonly Scored[];
    expect([found.length > 3000, haveBoth(found)]).toEqual([true, true]);
    const answer = findAnswer(findAnswers(read('report', 'page')), keyOf('artifact', { stage: 'evaluate-int8', port: 'detections' }));
    const shown = (answer?.kind === 'json' ? answer.value : []) as unknown as readonly Scored[];
    expect([shown.length > 300, haveBoth(shown)]).toEqual([true, true]);
  });

  it('quantizes only the MaskIoU head again if it reads its mask in the other form', () => {
    const { exitCode, executed } = project.build(...PIPELINE, '-p', 'maskInput=concat', 'quantize');
    expect(exitCode).toBe(0);
    expect(executed.filter(stage => stage.startsWith('quantize'))).toEqual(['quantize@maskiou_head']);
    expect(executed.filter(stage => stage.startsWith('simplify'))).toEqual(['simplify@maskiou_head']);
  });
});
