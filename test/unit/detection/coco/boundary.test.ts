/** Figures by Boundary IoU against pycocotools and OpenCV, and the boundary itself against its definition. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Json } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { evaluateCoco } from '../../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../../src/detection/coco/figure-names.js';
import { COCO_PARAMS, type CocoParams } from '../../../../src/detection/coco/params.js';
import { parseCocoResults } from '../../../../src/detection/coco/results.js';
import { boundaryOf } from '../../../../src/detection/masks/boundary.js';
import { decodeMask, encodeMask } from '../../../../src/detection/masks/rle.js';
import { fixturePath } from '../../../support/fixtures.js';
import { maxDifference } from '../../../support/max-difference.js';
import { PROJECT } from '../../../support/shapes-project.js';
import { randomFloats } from '../../../support/small-model.js';

interface RandomSet {
  readonly truth: Json;
  readonly detections: Json;
  readonly maxDetections: readonly number[];
  readonly categories: CocoParams['categories'];
}

const unpack = (name: string): Json => JSON.parse(gunzipSync(readFileSync(fixturePath('detection', name))).toString()) as Json;
const recorded = JSON.parse(readFileSync(fixturePath('detection', 'boundary-figures.json'), 'utf8')) as {
  readonly random: readonly (readonly number[])[];
  readonly shapes: readonly number[];
};

function measure(truth: Json, detections: Json, params: Partial<CocoParams> = {}): readonly number[] {
  const dataset = parseCocoDataset(truth);
  const figures = evaluateCoco(dataset, parseCocoResults(detections, dataset), 'boundary', { ...COCO_PARAMS, ...params });
  return COCO_FIGURE_NAMES.map(name => figures[name]);
}

// The same operations in double precision; only the order of the final sums differs.
const TOLERANCE = 1e-9;

it('random sets, with crowds, empty masks, polygons and both kinds of run lengths', () => {
  const sets = unpack('random-figures.json.gz') as unknown as readonly RandomSet[];
  expect(recorded.random).toHaveLength(sets.length);
  for (const [index, { truth, detections, ...params }] of sets.entries())
    expect([index, maxDifference(measure(truth, detections, params), recorded.random[index] ?? []) < TOLERANCE]).toEqual([index, true]);
});

it('the detections of the shapes', () => {
  const truth = JSON.parse(readFileSync(join(PROJECT, 'examples/shapes/data/instances_val.json'), 'utf8')) as Json;
  expect(maxDifference(measure(truth, unpack('shapes-detections.json.gz')), recorded.shapes)).toBeLessThan(TOLERANCE);
});

/** d of √(height² + width²) · 0.02, by hand; 2.5 of 100×75 to even. */
it.each([
  [9, 7, 1],
  [100, 75, 2],
  [150, 40, 3],
  [1, 150, 3],
])('masks of %d×%d: set pixels with an unset one, or the edge, at most %d away', (height, width, d) => {
  for (let seed = 1; seed <= 6; seed++) {
    // Mostly set, so that some pixels are inside.
    const mask = Uint8Array.from(randomFloats([height * width], seed).data, value => Number(value > -0.99));
    const isSet = (y: number, x: number): boolean => y >= 0 && x >= 0 && y < height && x < width && mask[y * width + x] === 1;
    const expected = mask.map((set, index) => {
      const [row, column] = [Math.floor(index / width), index % width];
      let inside = true;
      for (let y = row - d; y <= row + d; y++) for (let x = column - d; x <= column + d; x++) inside &&= isSet(y, x);
      return set === 1 && !inside ? 1 : 0;
    });
    expect(decodeMask(boundaryOf(encodeMask(mask, height, width)))).toEqual(expected);
  }
});
