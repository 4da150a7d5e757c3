/** Curves and kinds of error that the view "Results" computes. */
import type { Json } from '../../../src/base/json.js';
import { judgeResults } from '../../../src/web/page/results/judge-results.js';

const bytes = (value: Json): ArrayBuffer => new TextEncoder().encode(JSON.stringify(value)).buffer as ArrayBuffer;

describe('judgments of both sides', () => {
  const annotations: Json = {
    images: [1, 2, 3].map(id => ({ id, file_name: `${id}.jpg`, width: 100, height: 100 })),
    categories: [{ id: 1, name: 'one' }],
    annotations: [1, 2, 3].map(id => ({ id, image_id: id, category_id: 1, bbox: [10, 10, 40, 40], area: 1600, iscrowd: 0 })),
  };
  const at = (image: number, x: number, score: number): Json => ({ image_id: image, category_id: 1, bbox: [x, 10, 40, 40], score });

  it('are those of the definition: all objects found, half of them found, and a box that overlaps too little', () => {
    const all = bytes([at(1, 10, 0.9), at(2, 10, 0.8)]);
    // Of two objects one is found, and the other box has an IoU of 24 / 56.
    const half = bytes([at(1, 10, 0.9), at(2, 26, 0.8)]);
    const { judgments: [left, right] = [] } = judgeResults({
      sides: [
        { detections: all, images: 2 },
        { detections: half, images: 2 },
      ],
      annotations: bytes(annotations),
    });
    expect(left?.curves.mean[0]?.precision).toEqual(new Array(101).fill(1));
    // Recall 0.5 is reached at 51 of 101 points.
    expect(right?.curves.mean[0]?.precision.map(value => Math.round(value))).toEqual([...new Array(51).fill(1), ...new Array(50).fill(0)]);
    expect(left?.errors.kinds.localization.count).toBe(0);
    expect(right?.errors.kinds.localization.count).toBe(1);
  });

  it('count only the images that were evaluated', () => {
    const found = bytes([at(1, 10, 0.9)]);
    const recalls = [1, 3].map(images => {
      const { judgments: [judgment] = [] } = judgeResults({ sides: [{ detections: found, images }], annotations: bytes(annotations) });
      return judgment?.curves.mean[0]?.precision.filter(value => value > 0.5).length;
    });
    // A recall of 1, and of a third: the points 0 … 0.33.
    expect(recalls).toEqual([101, 34]);
  });

  it('compare objects in the images of both sides only, and say how many these are', () => {
    const two = bytes([at(1, 10, 0.9), at(2, 10, 0.8)]);
    const changesOf = (...images: readonly [number, number]) => {
      const sides = [
        { detections: bytes([at(1, 10, 0.9)]), images: images[0] },
        { detections: two, images: images[1] },
      ];
      const { changes, common } = judgeResults({ sides, annotations: bytes(annotations), changes: 9 });
      return { ...changes?.counts, missed: changes?.missed, common };
    };
    const none = { lost: 0, found: 0, changed: 0, extra: 0, resolved: 0, missed: 0 };
    expect(changesOf(1, 2)).toEqual({ ...none, common: 1 });
    expect(changesOf(2, 1)).toEqual({ ...none, common: 1 });
    expect(changesOf(2, 2)).toEqual({ ...none, found: 1, common: undefined });
  });
});
