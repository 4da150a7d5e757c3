/** Decoders found by the shapes of outputs, as published networks have them for 640 × 640 and other inputs. */

import type { OutputShape } from '../../../../../src/detection/families/single/decoder/decoder-guess.js';
import { formOfDecoder } from '../../../../../src/detection/families/single/decoder/decoder-text.js';
import { findDecoder } from '../../../../../src/detection/families/single/decoder/find-decoder.js';

const floats = (...all: readonly (readonly (number | string)[])[]): OutputShape[] =>
  all.map((dims, index) => ({ name: `o${index}`, dtype: 'float32', dims }));
/** Of four classes. */
const named = (...names: readonly string[]): OutputShape[] => names.map(name => ({ name, dtype: 'float32', dims: [1, 300, 4] }));
const square = (side: number) => ({ height: side, width: side });

describe('a decoder is found by the outputs', () => {
  it.each<[string, OutputShape[], number, object, number | string]>([
    ['YOLOv8, v9, v11', floats([1, 84, 8400]), 640, { grid: { output: 'o0', boxes: { form: 'center' }, classes: { channel: 4 } } }, 80],
    ['YOLOv5, v7', floats([1, 25200, 85]), 640, { grid: { output: 'o0', boxes: { form: 'center' }, objectness: { channel: 4 } } }, 80],
    [
      'YOLOv8-pose, v11-pose',
      floats([1, 56, 8400]),
      640,
      { grid: { output: 'o0', boxes: { form: 'center' }, classes: { channel: 4 }, keypoints: { channel: 5, count: 17 } } },
      1,
    ],
    ['YOLOv8-pose with four levels', floats([1, 56, 34000]), 640, { grid: { keypoints: { channel: 5, count: 17 } } }, 1],
    ['YOLOv8-pose for large images', floats([1, 56, 34000]), 1280, { grid: { keypoints: { channel: 5, count: 17 } } }, 1],
    ['52 classes in a network of other strides', floats([1, 56, 2100]), 640, { grid: { classes: { channel: 4 } } }, 52],
    [
      'YOLOv8-seg, v11-seg',
      floats([1, 116, 8400], [1, 32, 160, 160]),
      640,
      { grid: { output: 'o0', classes: { channel: 4 }, masks: { prototypes: 'o1', channel: 84, count: 32 } } },
      80,
    ],
    [
      'YOLOv5-seg',
      floats([1, 25200, 117], [1, 32, 160, 160]),
      640,
      { grid: { objectness: { channel: 4 }, classes: { channel: 5 }, masks: { prototypes: 'o1', channel: 85, count: 32 } } },
      80,
    ],
    ['YOLO-NAS, PP-YOLOE', floats([1, 8400, 4], [1, 8400, 80]), 640, { boxes: { scores: 'o1', boxes: 'o0' } }, 80],
    ['RT-DETR', floats([1, 300, 80], [1, 300, 4]), 640, { boxes: { form: 'center', unit: 'fractions', activation: 'sigmoid' } }, 80],
    ['RT-DETR, two classes', floats([1, 300, 2], [1, 300, 4]), 640, { boxes: { form: 'center', activation: 'sigmoid' } }, 2],
    ['DINO', floats([1, 900, 4], [1, 900, 91]), 800, { boxes: { scores: 'o1', form: 'center', activation: 'sigmoid' } }, 91],
    [
      'RetinaNet',
      floats([1, 720, 80, 80], [1, 36, 80, 80], [1, 720, 40, 40], [1, 36, 40, 40]),
      640,
      {
        offsets: {
          levels: [
            { stride: 8, scores: 'o0', boxes: 'o1' },
            { stride: 16, scores: 'o2', boxes: 'o3' },
          ],
          activation: 'sigmoid',
        },
      },
      80,
    ],
    [
      'FCOS',
      floats([1, 80, 80, 80], [1, 80, 40, 40], [1, 4, 80, 80], [1, 4, 40, 40], [1, 1, 80, 80], [1, 1, 40, 40]),
      640,
      { distances: { levels: [{ stride: 8, scores: 'o0', distances: 'o2', centers: 'o4' }, { stride: 16 }], activation: 'sigmoid' } },
      80,
    ],
    ['YOLOX', floats([1, 8400, 85]), 640, { grid: { boxes: { form: 'exp' }, strides: [8, 16, 32] } }, 80],
    ['YOLOv10', floats([1, 300, 6]), 640, { selected: { output: 'o0' } }, 80],
    ['YOLOv7 with suppression', floats([100, 7]), 640, { selected: { box: 1, score: 6 } }, 80],
    ['NanoDet', floats([1, 2100, 112]), 320, { joined: { strides: [8, 16, 32], bins: 8 } }, 80],
    ['NanoDet-Plus', floats([1, 2125, 112]), 320, { joined: { strides: [8, 16, 32, 64], bins: 8, center: 0 } }, 80],
    ['NanoDet-Plus, rank 2, three classes', floats([2125, 35]), 320, { joined: { strides: [8, 16, 32, 64], center: 0 } }, 3],
    ['FastestDet', floats([1, 85, 22, 22]), 352, { grid: { strides: [16], boxes: { form: 'bounded', channel: 1 } } }, 80],
    [
      'YOLOv3',
      floats([1, 255, 13, 13], [1, 255, 26, 26], [1, 255, 52, 52]),
      416,
      { anchors: { form: 'exp', levels: [{ stride: 8, output: 'o2' }, { output: 'o1' }, { stride: 32, output: 'o0' }] } },
      80,
    ],
    [
      'YOLOv5 without its last layer',
      floats([1, 3, 80, 80, 85], [1, 3, 40, 40, 85], [1, 3, 20, 20, 85]),
      640,
      { anchors: { form: 'square' } },
      80,
    ],
    [
      'CenterNet',
      floats([1, 80, 128, 128], [1, 2, 128, 128], [1, 2, 128, 128]),
      512,
      { heatmap: { stride: 4, sizes: 'o1', offsets: 'o2' } },
      80,
    ],
    ['SSD with decoded boxes', floats([1, 4420, 2], [1, 4420, 4]), 320, { boxes: { scores: 'o0', boxes: 'o1', background: true } }, 1],
    [
      'PicoDet',
      floats([1, 1600, 80], [1, 400, 80], [1, 100, 80], [1, 25, 80], [1, 1600, 32], [1, 400, 32], [1, 100, 32], [1, 25, 32]),
      320,
      { distances: { bins: 8, levels: [{ stride: 8, scores: 'o0', distances: 'o4' }, {}, {}, { stride: 64, scores: 'o3' }] } },
      80,
    ],
    [
      'FCOS without centerness',
      floats([1, 20, 32, 32], [1, 4, 32, 32], [1, 20, 16, 16], [1, 4, 16, 16]),
      256,
      { distances: { levels: [{ stride: 8, scores: 'o0', distances: 'o1' }, { stride: 16 }] } },
      20,
    ],
  ])('%s', (_, outputs, side, form, classes) => {
    const found = findDecoder(outputs, square(side));
    expect(found?.classes).toBe(classes);
    expect(found === undefined ? undefined : formOfDecoder(found.decoder)).toMatchObject(form);
  });

  it.each([
    ['logits', 'pred_boxes'],
    ['pred_boxes', 'logits'],
    ['scores', 'o1'],
    ['o0', 'bboxes'],
    ['block.0.scores', 'pred_boxes'],
  ])('boxes of four classes by the names %s, %s', (...names) => {
    const found = findDecoder(named(...names), square(640));
    const boxes = names.find(name => name.includes('boxes') || name === 'o1');
    expect(found?.decoder).toMatchObject({ kind: 'boxes', boxes, scores: names.find(name => name !== boxes), form: 'center' });
    expect(found?.classes).toBe(4);
  });

  it.each([
    [
      ['n', 17, 3],
      ['n', 17],
    ],
    [
      ['n', 'points', 'three'],
      ['m', 'k'],
    ],
  ])("torchvision's Keypoint R-CNN with points %j and their scores %j", (points, pointScores) => {
    const names = ['boxes', 'labels', 'scores', 'keypoints', 'keypoints_scores'];
    const shapes = [['n', 4], ['n'], ['n'], points, pointScores];
    const outputs = names.map((name, at): OutputShape => ({ name, dtype: name === 'labels' ? 'int64' : 'float32', dims: shapes[at] }));
    const found = findDecoder(outputs, square(640));
    expect(found?.classes).toBe('ids of coco');
    expect(found && formOfDecoder(found.decoder)).toEqual({
      detections: { boxes: 'boxes', scores: 'scores', classes: 'labels', keypoints: { output: 'keypoints' } },
    });
  });

  it('torchvision', () => {
    const outputs: OutputShape[] = [
      { name: 'boxes', dtype: 'float32', dims: ['n', 4] },
      { name: 'labels', dtype: 'int64', dims: ['n'] },
      { name: 'scores', dtype: 'float32', dims: ['n'] },
    ];
    const found = findDecoder(outputs, square(320));
    expect(found?.classes).toBe('ids of coco');
    expect(found && formOfDecoder(found.decoder)).toEqual({ detections: { boxes: 'boxes', scores: 'scores', classes: 'labels' } });
  });

  const selected = (dtype: string, [labels = 0, boxes = 0, scores = 0]: readonly (number | string)[]): OutputShape[] => [
    { name: 'labels', dtype, dims: [1, labels] },
    { name: 'boxes', dtype: 'float32', dims: [1, boxes, 4] },
    { name: 'scores', dtype: 'float32', dims: [1, scores] },
  ];

  it.each([
    ['int64', [300, 300, 300]],
    ['int32', [300, 300, 300]],
    ['int64', ['Concatlabels_dim_1', 'GatherElementsboxes_dim_1', 'TopKscores_dim_1']],
    ['int64', [300, 'n', 300]],
  ])('selected detections of one image, classes as %s, rows %j', (dtype, rows) => {
    const found = findDecoder(selected(dtype, rows), square(640));
    expect(found?.classes).toBe(80);
    expect(found && formOfDecoder(found.decoder)).toEqual({ detections: { boxes: 'boxes', scores: 'scores', classes: 'labels' } });
  });

  it('no detections where two sizes are known and differ', () => {
    expect(findDecoder(selected('int64', [300, 'n', 100]), square(640))).toBeUndefined();
  });

  it('rows of PaddleDetection and their number', () => {
    const count: OutputShape = { name: 'count', dtype: 'int32', dims: [1] };
    const rows: OutputShape = { name: 'rows', dtype: 'float32', dims: ['n', 6] };
    const found = findDecoder([rows, count], square(640));
    expect(found?.decoder).toEqual({ kind: 'selected', output: 'rows', box: 2, score: 1, class: 0 });
    expect(findDecoder([rows], square(640))).toBeUndefined();
  });

  it.each([
    [floats([1, 1000])],
    [floats([1, 64, 80, 80])],
    [floats([1, 'n', 85])],
    [floats([1, 3, 80, 80, 85])],
    // An image three times as large as the input.
    [floats([1, 1, 1920, 1920])],
    [floats([1, 3, 1920, 1920])],
    // A sequence of 16 places, and DETR, whose last class is no object.
    [floats([1, 16, 6])],
    [floats([1, 100, 92], [1, 100, 4])],
    [floats([1, 100, 6], [1, 100, 4])],
    // Neither queries of a known network, nor the cells of the input, nor as many as boxes at fixed places.
    [floats([1, 200, 81], [1, 200, 4])],
    [floats([1, 500, 81], [1, 500, 4])],
    // Names do not tell which of them are boxes.
    [floats([1, 300, 4], [1, 300, 4])],
    [named('boxes', 'box_scores')],
    [[...floats([1, 20, 4], [1, 30]), { name: 'labels', dtype: 'int64', dims: [1, 20] }]],
  ])('none for %j', outputs => {
    expect(findDecoder(outputs, square(640))).toBeUndefined();
  });
});
