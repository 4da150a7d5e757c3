/** Proposals, pooled features, detections and masks equal the recorded ones of torchvision, stage by stage. */
import { join } from 'node:path';
import type { PartValuesByName } from '../../../src/detection/detector/part-runner.js';
import type { DetectorConfig } from '../../../src/detection/families/maskrcnn/config.js';
import { readDetections, readMasks } from '../../../src/detection/families/maskrcnn/locate-objects.js';
import { findProposals } from '../../../src/detection/families/maskrcnn/proposals.js';
import type { MaskRcnnRecipe } from '../../../src/detection/families/maskrcnn/recipe.js';
import { poolFeatures } from '../../../src/detection/families/maskrcnn/roi-pooling.js';
import { compareArrays, momentsOf, standardDeviationOf } from '../../../src/tensor/compare.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import { exportShapes, readShapesConfig } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const RESIZED = { height: 192, width: 256 };

/** Largest difference over the recorded tensor's standard deviation. */
function errorOf(found: ArrayLike<number>, recorded: ArrayLike<number>): number {
  return compareArrays(recorded, found).maxAbs / standardDeviationOf(momentsOf(recorded));
}

function iouOf(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number {
  const at = (boxes: ArrayLike<number>, row: number, side: number): number => boxes[4 * row + side] ?? 0;
  const overlap = (low: number): number =>
    Math.max(0, Math.min(at(a, i, low + 2), at(b, j, low + 2)) - Math.max(at(a, i, low), at(b, j, low)));
  const area = (boxes: ArrayLike<number>, row: number): number =>
    (at(boxes, row, 2) - at(boxes, row, 0)) * (at(boxes, row, 3) - at(boxes, row, 1));
  const inner = overlap(0) * overlap(1);
  return inner / (area(a, i) + area(b, j) - inner);
}

suite.each([1000, 1007, 1014])('image %p, each stage fed what torchvision gave', image => {
  let recipe: MaskRcnnRecipe;
  let config: DetectorConfig;
  let recorded: NpzArchive;
  let backbone: PartValuesByName;
  const data = (name: string): Float32Array => recorded.getFloat32(name).data;

  beforeAll(async () => {
    ({ recipe } = await exportShapes());
    config = await readShapesConfig();
    recorded = await readNpz(join(shared ?? '', `shapes/maskrcnn/stages_${image}.npz`));
    backbone = Object.fromEntries(recipe.parts.backbone.outputs.map(name => [name, recorded.getFloat32(name)]));
  });

  it('at least 99 % of the proposals are found with IoU above 0.99', () => {
    const { boxes } = findProposals(backbone, { resized: RESIZED, covered: RESIZED, padded: RESIZED }, recipe, config);
    const wanted = data('proposals');
    expect(boxes.length).toBe(wanted.length);
    const rows = Array.from({ length: wanted.length / 4 }, (_, row) => row);
    const found = rows.filter(row => rows.some(other => iouOf(wanted, row, boxes, other) > 0.99));
    expect(found.length / rows.length).toBeGreaterThanOrEqual(0.99);
  });

  it('pooled features of the box head are within 1e-3 of their standard deviation', () => {
    const pooled = poolFeatures(backbone, data('proposals'), recipe.boxHead, recipe, RESIZED);
    expect(pooled.dims).toEqual(recorded.get('box_features').dims);
    expect(errorOf(pooled.data, data('box_features'))).toBeLessThan(1e-3);
  });

  it('detections are the same', () => {
    const head = { class_logits: recorded.getFloat32('class_logits'), box_regression: recorded.getFloat32('box_regression') };
    const found = readDetections({ recipe, config }, head, data('proposals'), RESIZED);
    const labels = recorded.get('labels');
    expect([...found.labels]).toEqual(labels.dtype === 'int64' ? Array.from(labels.data, Number) : []);
    expect(compareArrays(data('scores'), found.scores).maxAbs).toBeLessThan(1e-6);
    expect(errorOf(found.boxes, data('boxes'))).toBeLessThan(1e-3);
  });

  it('pooled features of the mask head are within 1e-3 of their standard deviation', () => {
    const pooled = poolFeatures(backbone, data('boxes'), recipe.maskHead, recipe, RESIZED);
    expect(pooled.dims).toEqual(recorded.get('mask_features').dims);
    expect(errorOf(pooled.data, data('mask_features'))).toBeLessThan(1e-3);
  });

  it('mask probabilities are within 1e-3 of their standard deviation', () => {
    const labels = recorded.get('labels');
    const own = Int32Array.from(labels.dtype === 'int64' ? labels.data : [], Number);
    const masks = readMasks({ recipe, config }, { mask_logits: recorded.getFloat32('mask_logits') }, own);
    expect(errorOf(masks.data, data('mask_probs'))).toBeLessThan(1e-3);
  });
});
