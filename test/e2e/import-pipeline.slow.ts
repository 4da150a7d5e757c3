/** A detector exported by torchvision goes from its ONNX file to int8 parts through the command line, on few images. */
import { readFileSync } from 'node:fs';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

interface Found {
  readonly image_id: number;
  readonly category_id: number;
  readonly score: number;
  readonly bbox: readonly number[];
}

describe('pipelines/import.yaml', () => {
  let project: ShapesProject;
  beforeAll(() => {
    project = givenShapesProject(5);
  });
  afterAll(() => project.remove());

  const detectionsOf = (path: string | undefined): readonly Found[] =>
    JSON.parse(readFileSync(project.path(path ?? ''), 'utf8')) as readonly Found[];

  it('builds from the file to int8 figures, and nothing the second time', () => {
    const built = project.build('-f', 'pipelines/import.yaml');
    expect(built.failed).toEqual([]);
    expect(built.exitCode).toBe(0);
    expect(built.executed).toHaveLength(built.stages.size);
    const { delta } = built.stages.get('evaluate-int8')?.metrics ?? {};
    // On five images an object more or less is a hundredth.
    expect(delta?.bbox?.AP).toBeGreaterThan(-0.05);
    expect(delta?.segm?.AP).toBeGreaterThan(-0.05);
    expect(project.build('-f', 'pipelines/import.yaml').executed).toEqual([]);
  });

  it('gives the same detections as the detector exported from the checkpoint', () => {
    const imported = project.build('-f', 'pipelines/import.yaml').stages.get('evaluate-float');
    const exported = project.build('evaluate-float').stages.get('evaluate-float');
    const [theirs, ours] = [detectionsOf(imported?.artifacts.detections), detectionsOf(exported?.artifacts.detections)];

    expect(ours.length).toBeGreaterThan(30);
    expect(theirs.length).toBe(ours.length);
    for (const object of ours) {
      const same = theirs.filter(
        ({ image_id, category_id, score, bbox }) =>
          image_id === object.image_id &&
          category_id === object.category_id &&
          Math.abs(score - object.score) < 1e-3 &&
          bbox.every((side, index) => Math.abs(side - (object.bbox[index] ?? 0)) < 0.05),
      );
      expect(same).toHaveLength(1);
    }
  });
});
