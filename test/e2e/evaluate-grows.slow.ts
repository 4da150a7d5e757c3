/** `evaluate` runs the detector once per image, however the set grows and whatever stopped an earlier run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

interface Stats {
  readonly by: readonly { readonly kind: string; readonly name: string; readonly records: number }[];
}

describe('a data set that grows', () => {
  let project: ShapesProject;
  beforeAll(() => {
    project = givenShapesProject(3);
  });
  afterAll(() => project.remove());

  /** Images whose detections are kept. */
  const countKept = (): number => {
    const { by } = JSON.parse(project.tanren('cache', 'stats', '--json').stdout) as Stats;
    return by.find(({ kind, name }) => kind === 'part' && name === 'image-detections')?.records ?? 0;
  };
  const images = (): unknown => project.build('evaluate-float').stages.get('evaluate-float')?.metrics?.images;
  const take = (from: number, to: number): void =>
    project.edit('pipeline.yaml', text => text.replaceAll(`{samples: ${from}}`, `{samples: ${to}}`));

  it('runs only the new images; an interrupted run continues where it stopped', () => {
    expect(images()).toBe(3);
    expect(countKept()).toBe(3);

    take(3, 8);
    const [, , , , , sixth = ''] = (
      JSON.parse(readFileSync(project.path('examples/shapes/data/instances_val.json'), 'utf8')) as {
        images: { id: number; file_name: string }[];
      }
    ).images
      .sort((a, b) => a.id - b.id)
      .map(({ file_name }) => project.path(`examples/shapes/data/val/${file_name}`));
    const whole = readFileSync(sixth);
    writeFileSync(sixth, whole.subarray(0, 100));
    const stopped = project.build('evaluate-float');
    expect(stopped.stages.get('evaluate-float')?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'image-decode' } });
    // Two of five new images before the damaged one, and those after it that had already begun.
    expect(countKept()).toBeGreaterThanOrEqual(5);
    expect(countKept()).toBeLessThan(8);

    writeFileSync(sixth, whole);
    expect(images()).toBe(8);
    expect(countKept()).toBe(8);

    // A smaller set again asks nothing new, and one that has been seen is restored as a whole.
    take(8, 3);
    expect(project.build('evaluate-float').restored).toEqual(['evaluate-float']);
    take(3, 5);
    expect(images()).toBe(5);
    expect(countKept()).toBe(8);
  });
});
