/** Does the default pipeline keep its promises on all 200 images: accuracy per step, and the same bytes wherever and however it runs? */
import { readFileSync } from 'node:fs';
import { digestBytes } from '../../src/base/digest.js';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

/** torchvision's float32 detector on these images, by pycocotools. */
const TORCHVISION = { bbox: 0.6803933338540449, segm: 0.5038187021610646 };

describe('the default pipeline on all images', () => {
  let one: ShapesProject;
  let two: ShapesProject;
  beforeAll(() => {
    one = givenShapesProject('all');
    two = givenShapesProject('all');
  });
  afterAll(() => {
    one.remove();
    two.remove();
  });

  const digests = (project: ShapesProject, built: ReturnType<ShapesProject['build']>): Record<string, string> =>
    Object.fromEntries(
      [...built.stages.values()].flatMap(({ artifacts }) =>
        Object.values(artifacts).map(path => [path, digestBytes(readFileSync(project.path(path)))]),
      ),
    );

  it('gives equal artifacts in another folder, at another number of jobs', () => {
    const first = one.build('--jobs', '1');
    const second = two.build('--jobs', '8');

    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(digests(two, second)).toEqual(digests(one, first));
    expect(first.stages.size).toBe(19);
  });

  it('loses no more accuracy in a step than its gate allows, and none in the float parts', () => {
    const { stages } = one.build();
    const figures = (stage: string): Record<string, Record<string, number>> => stages.get(stage)?.metrics as never;

    // The same detections up to float rounding: one pair that changes order moves AP by far less than this.
    for (const type of ['bbox', 'segm'] as const)
      expect(Math.abs((figures('evaluate-float')[type]?.AP ?? 0) - TORCHVISION[type])).toBeLessThan(0.002);
  });

  it.each(['u8s8', 'a8w8'])('%s loses at most 0.006 box AP and 0.008 mask AP to the exactly rewritten float parts', preset => {
    const { exitCode, stages } = one.build('-p', 'maxpool=depthwise', '-p', `preset=${preset}`);
    const delta = stages.get('evaluate-int8')?.metrics?.delta;

    expect(exitCode).toBe(0);
    expect(delta?.bbox?.AP).toBeGreaterThanOrEqual(-0.006);
    expect(delta?.segm?.AP).toBeGreaterThanOrEqual(-0.008);
    expect(stages.get('evaluate-rewritten')?.metrics?.delta).toMatchObject({ bbox: { AP: 0 }, segm: { AP: 0 } });
  });
});
