/** The decoders of docs/decoders, each on outputs whose objects are worked out by hand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../../../src/base/json.js';
import type { Candidates } from '../../../../../src/detection/families/single/decoder/candidates.js';
import { openDecode } from '../../../../../src/detection/families/single/decoder/decode.js';
import { makeTensor } from '../../../../../src/tensor/tensor.js';
import { PROJECT } from '../../../../support/shapes-project.js';

type Outputs = Readonly<Record<string, { readonly dims: readonly number[]; readonly data: readonly number[] }>>;

async function decode(file: string, outputs: Outputs, options: JsonObject): Promise<Candidates> {
  const source = readFileSync(join(PROJECT, 'docs/decoders', file), 'utf8');
  const run = await openDecode({ kind: 'module', name: file, source, outputs: Object.keys(outputs), options });
  const tensors = Object.entries(outputs).map(([name, { dims, data }]) => [name, makeTensor('float32', dims, Float32Array.from(data))]);
  const context = { input: { height: 16, width: 32 }, classes: 2, scoreThreshold: 0.1, labels: 'best' } as const;
  return run(Object.fromEntries(tensors), context);
}

const listed = ({ boxes, scores, classes }: Candidates) =>
  Array.from(scores, (score, i) => [
    classes[i],
    Number(score.toFixed(5)),
    ...Array.from(boxes.subarray(4 * i, 4 * i + 4), x => Number(x.toFixed(3))),
  ]);
const logit = (p: number): number => Math.log(p / (1 - p));
const filled = (count: number, value: number): number[] => Array(count).fill(value);

describe('docs/decoders', () => {
  it('retinanet.js: offsets to anchors of three ratios, around the corners of the cells', async () => {
    // 1 × 2 cells, three anchors of one scale; class 1 of the last anchor (ratio 2: 8 · √2 high) in the second cell.
    const scores = filled(12, -20);
    scores[(2 * 2 + 1) * 2 + 1] = logit(0.75);
    const boxes = filled(24, 0);
    // dx moves the center by half a width, dh doubles the height.
    boxes[(2 * 4 + 0) * 2 + 1] = 0.5;
    boxes[(2 * 4 + 3) * 2 + 1] = Math.log(2);
    const outputs = { s: { dims: [1, 6, 1, 2], data: scores }, b: { dims: [1, 12, 1, 2], data: boxes } };
    const [w, h] = [8 / Math.SQRT2, 8 * Math.SQRT2 * 2];
    const found = await decode('retinanet.js', outputs, { levels: [{ scores: 's', boxes: 'b', stride: 16, size: 8 }], scales: [1] });
    const round = (x: number): number => Number(x.toFixed(3));
    expect(listed(found)).toEqual([[1, 0.75, 16, round(-h / 2), round(16 + w), round(h / 2)]]);
  });

  it('fcos.js: √(score · centerness), distances in strides that are not negative', async () => {
    const outputs = {
      s: { dims: [1, 2, 1, 2], data: [-20, logit(0.81), -20, -20] },
      c: { dims: [1, 1, 1, 2], data: [0, 20] },
      d: { dims: [1, 4, 1, 2], data: [0, 1, 0, 0.25, 0, 0.5, 0, -3] },
    };
    const options = { levels: [{ scores: 's', centers: 'c', distances: 'd', stride: 16 }] };
    expect(listed(await decode('fcos.js', outputs, options))).toEqual([[0, 0.9, 8, 4, 32, 8]]);
  });

  it('detr.js: the softmax has a last class that is no object', async () => {
    const outputs = {
      logits: { dims: [1, 2, 3], data: [Math.log(2), Math.log(5), Math.log(3), 0, 0, 20] },
      pred_boxes: { dims: [1, 2, 4], data: [0.5, 0.5, 0.25, 0.5, 0, 0, 0, 0] },
    };
    expect(listed(await decode('detr.js', outputs, {}))).toEqual([[1, 0.5, 12, 4, 20, 12]]);
  });

  it('yolo-seg.js: masks are prototypes times coefficients, over the box', async () => {
    // One object of 16 × 8 pixels around (16, 8); the prototype is 10 in its left half, −10 in its right half.
    const outputs = {
      output0: { dims: [1, 7, 1], data: [16, 8, 16, 8, 0.2, 0.6, 1] },
      output1: { dims: [1, 1, 4, 8], data: Array.from({ length: 32 }, (_, i) => (i % 8 < 4 ? 10 : -10)) },
    };
    const found = await decode('yolo-seg.js', outputs, { side: 2 });
    expect(listed(found)).toEqual([[1, 0.6, 8, 4, 24, 12]]);
    expect(Array.from(found.masks?.data ?? [], value => value > 0.5)).toEqual([true, false, true, false]);
    expect(found.masks?.data[0]).toBeCloseTo(1 / (1 + Math.exp(-10)), 6);
  });

  it('yolo-obb.js: rotated boxes are compared, and upright boxes are drawn around those that remain', async () => {
    // A square of 4, the same turned by 45 degrees, and a flat box in it of the other class. The squares share 16 · (2√2 − 2), so that their IoU is 1/√2.
    const squares = [8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 1, 0.9, 0.8, 0, 0, 0, 0.7, 0, Math.PI / 4, Math.PI / 2];
    const outputs = { output0: { dims: [1, 7, 3], data: squares } };
    const [upright, flat] = [
      [0, 0.9, 6, 6, 10, 10],
      [1, 0.7, 7.5, 6, 8.5, 10],
    ];
    const at = (x: number): number => Number(x.toFixed(3));
    const half = 2 * Math.SQRT2;
    const turned = [0, 0.8, at(8 - half), at(8 - half), at(8 + half), at(8 + half)];
    expect(listed(await decode('yolo-obb.js', outputs, { iou: Math.SQRT1_2 - 1e-6 }))).toEqual([upright, flat]);
    expect(listed(await decode('yolo-obb.js', outputs, { iou: Math.SQRT1_2 + 1e-6 }))).toEqual([upright, turned, flat]);
  });

  it('efficient-nms.js: the first objects of padded outputs', async () => {
    const outputs = {
      num_dets: { dims: [1, 1], data: [1] },
      det_boxes: { dims: [1, 2, 4], data: [1, 2, 3, 4, 9, 9, 9, 9] },
      det_scores: { dims: [1, 2], data: [0.5, 0] },
      det_classes: { dims: [1, 2], data: [1, -1] },
    };
    expect(listed(await decode('efficient-nms.js', outputs, {}))).toEqual([[1, 0.5, 1, 2, 3, 4]]);
  });
});
