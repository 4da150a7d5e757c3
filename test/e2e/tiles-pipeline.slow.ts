/** pipelines/maskrcnn-tiles.yaml: the heads on tiles give the detections of the untiled int8 heads, byte for byte. */
import { readFileSync } from 'node:fs';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

const IMAGES = 12;

let project: ShapesProject;
beforeAll(() => {
  project = givenShapesProject(IMAGES);
});
afterAll(() => project.remove());

it('detections on tiles are those of the heads that run one RoI at a time, byte for byte', () => {
  const built = project.build('-f', 'pipelines/maskrcnn-tiles.yaml', 'evaluate-int8', 'evaluate-tiles', 'verify-tiles');
  expect([built.exitCode, built.failed]).toEqual([0, []]);
  const detectionsOf = (stage: string): string => readFileSync(project.path(built.stages.get(stage)?.artifacts.detections ?? ''), 'utf8');
  const found = detectionsOf('evaluate-tiles');
  expect((JSON.parse(found) as readonly unknown[]).length).toBeGreaterThan(50);
  expect(found).toBe(detectionsOf('evaluate-int8'));
});
