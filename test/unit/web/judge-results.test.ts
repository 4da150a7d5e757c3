/** Curves and kinds of error that the view "Results" computes, and the list that it exports. */
import type { Json } from '../../../src/base/json.js';
import { filterRows } from '../../../src/web/page/results/filter-rows.js';
import { judgeResults } from '../../../src/web/page/results/judge-results.js';
import { listObjects } from '../../../src/web/page/results/object-list.js';
import type { ImageRow, ObjectBox } from '../../../src/web/page/results/result-types.js';

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
    const [left, right] = judgeResults({
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
      const [judgment] = judgeResults({ sides: [{ detections: found, images }], annotations: bytes(annotations) });
      return judgment?.curves.mean[0]?.precision.filter(value => value > 0.5).length;
    });
    // A recall of 1, and of a third: the points 0 … 0.33.
    expect(recalls).toEqual([101, 34]);
  });
});

const box = (category: string, score: number): ObjectBox => ({ box: [-1, 2, 3, 4.5], category, score, crowd: false });

it('exports one line per object, quoted, and no text that a spreadsheet would compute', () => {
  const row: ImageRow = {
    id: '7',
    file: '=SUM(1).jpg',
    width: 1,
    height: 1,
    truth: [],
    objects: [
      { kind: 'lost', left: box('1', 0.5), right: undefined },
      { kind: 'changed', left: box('2', 0.25), right: box('2', 0.75), iou: 0.6 },
    ],
  };
  expect(listObjects([{ row, shown: row.objects }], { '1': 'a, "b"' })).toBe(
    [
      'image,file,kind,class,left score,right score,iou,x,y,width,height',
      `7,'=SUM(1).jpg,lost,"a, ""b""",0.5,,,-1,2,3,4.5`,
      `7,'=SUM(1).jpg,changed,2,0.25,0.75,0.6,-1,2,3,4.5`,
      '',
    ].join('\r\n'),
  );
});

it('filters by kind, class, size and score together', () => {
  const objects = [
    { kind: 'lost', left: box('1', 0.9), right: undefined },
    { kind: 'lost', left: box('2', 0.9), right: undefined },
    { kind: 'found', left: undefined, right: box('1', 0.2) },
  ] as const;
  const rows: readonly ImageRow[] = [{ id: '1', file: '', width: 1, height: 1, truth: [], objects }];
  const count = (query: Record<string, string>): number => filterRows({ rows }, query).flatMap(({ shown }) => shown).length;
  expect([{}, { kind: 'lost' }, { kind: 'lost', class: '1' }, { score: '0.5', class: '1' }, { size: 'large' }].map(count)).toEqual([
    3, 2, 1, 1, 0,
  ]);
});
