/** Changes between two detectors: their kinds, costs and order. */
import type { JsonObject } from '../../../../src/base/json.js';
import { CHANGE_RULE, type Changes, findChanges } from '../../../../src/detection/coco/changes.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { parseCocoResults } from '../../../../src/detection/coco/results.js';

type Box = [number, number, number, number];

const [A, B, C, CROWD, NOWHERE]: [Box, Box, Box, Box, Box] = [
  [10, 10, 20, 20],
  [50, 10, 20, 20],
  [10, 50, 20, 20],
  [60, 50, 40, 40],
  [40, 80, 10, 10],
];
const annotation = (id: number, bbox: Box, iscrowd = 0): JsonObject => ({ id, image_id: 1, category_id: 3, iscrowd, area: 400, bbox });
const dataset = parseCocoDataset({
  images: [{ id: 1, width: 100, height: 100 }],
  categories: [
    { id: 3, name: 'ring' },
    { id: 7, name: 'star' },
  ],
  annotations: [annotation(11, A), annotation(12, B), annotation(13, C), annotation(14, CROWD, 1)],
});
const detection = (bbox: Box, score: number, category_id = 3): JsonObject => ({ image_id: 1, category_id, score, bbox });
const all = [detection(A, 0.9), detection(B, 0.8), detection(C, 0.7)];

function compare(before: readonly JsonObject[], after: readonly JsonObject[]): Changes {
  return findChanges(dataset, parseCocoResults(before, dataset), parseCocoResults(after, dataset), { ...CHANGE_RULE, iouType: 'bbox' });
}

const told = ({ changes }: Changes) =>
  changes.map(({ kind, truth, cost, before, after }) => [kind, truth?.id, Number(cost.toFixed(3)), before?.lacks, after?.lacks]);

describe('changes between two detectors', () => {
  it('equal detections change nothing', () => {
    expect(compare(all, all)).toEqual({ changes: [], kept: 3, missed: 0 });
  });

  it('reports why an object is lost: score, class, location, or no detection', () => {
    const [, b, c] = all as [JsonObject, JsonObject, JsonObject];
    expect(told(compare(all, [detection(A, 0.4), b, c]))).toEqual([['lost', 11, 0.9, 'nothing', 'score']]);
    expect(told(compare(all, [detection([18, 18, 20, 20], 0.9), b, c]))).toEqual([
      ['lost', 11, 0.9, 'nothing', undefined],
      ['extra', undefined, 0.9, undefined, 'nothing'],
    ]);
    expect(told(compare(all, [detection([15, 15, 20, 20], 0.4), b, c]))).toEqual([['lost', 11, 0.9, 'nothing', 'place']]);
    // Of another class it is a wrong detection too.
    expect(told(compare(all, [detection(A, 0.85, 7), b, c]))).toEqual([
      ['lost', 11, 0.9, 'nothing', 'class'],
      ['extra', undefined, 0.85, undefined, 'nothing'],
    ]);
    expect(told(compare(all, [b, c]))).toEqual([['lost', 11, 0.9, 'nothing', undefined]]);
  });

  it('leaves out results of categories that the data set lacks', () => {
    expect(compare(all, [...all, detection(NOWHERE, 0.9, 77)])).toEqual({ changes: [], kept: 3, missed: 0 });
    expect(compare([...all, detection(NOWHERE, 0.9, 77)], all)).toEqual({ changes: [], kept: 3, missed: 0 });
  });

  it('with sides swapped it is a gain, and comes last', () => {
    const changes = compare([detection(A, 0.9), detection(NOWHERE, 0.6)], [detection(A, 0.6), detection(B, 0.8)]);
    expect(told(changes)).toEqual([
      ['changed', 11, 0.3, 'nothing', 'nothing'],
      ['resolved', undefined, -0.6, 'nothing', undefined],
      ['found', 12, -0.8, undefined, 'nothing'],
    ]);
    expect([changes.kept, changes.missed]).toEqual([0, 1]);
  });

  it('a change of location counts the lost overlap', () => {
    // Of 20×20 moved by 2: 18·20 of 22·20 are shared.
    expect(told(compare([detection(A, 0.9)], [detection([12, 10, 20, 20], 0.9)]))).toEqual([['changed', 11, 0.182, 'nothing', 'nothing']]);
  });

  it('ignores detections in crowds, and errors of both sides', () => {
    expect(compare([...all, detection(NOWHERE, 0.9)], [...all, detection(NOWHERE, 0.7), detection([70, 60, 10, 10], 0.9)]).changes).toEqual(
      [],
    );
  });
});
