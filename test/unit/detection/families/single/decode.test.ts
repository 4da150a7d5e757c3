/** Decoders of single networks: grid, distances, priors, boxes, finished detections, and modules of the user. */
import type { Candidates, DecodeContext } from '../../../../../src/detection/families/single/decoder/candidates.js';
import { openDecode } from '../../../../../src/detection/families/single/decoder/decode.js';
import type { Decoder } from '../../../../../src/detection/families/single/decoder/decoder.js';
import { makeTensor } from '../../../../../src/tensor/tensor.js';
import { failureOf } from '../../../../support/error-code.js';

const CONTEXT: DecodeContext = { input: { height: 16, width: 32 }, classes: 2, scoreThreshold: 0.1, labels: 'best' };

interface Output {
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

async function decode(
  decoder: Decoder,
  outputs: Readonly<Record<string, Output>>,
  context: Partial<DecodeContext> = {},
): Promise<Candidates> {
  const run = await openDecode(decoder);
  const tensors = Object.entries(outputs).map(([name, { dims, data }]) => [name, makeTensor('float32', dims, Float32Array.from(data))]);
  return run(Object.fromEntries(tensors), { ...CONTEXT, ...context });
}

const listed = ({ boxes, scores, classes }: Candidates) =>
  Array.from(scores, (score, i) => [
    classes[i],
    Number(score.toFixed(5)),
    ...Array.from(boxes.subarray(4 * i, 4 * i + 4), x => Number(x.toFixed(4))),
  ]);

const zeros = (count: number): number[] => Array(count).fill(0);
const channel = (at: number, power = 1) => ({ channel: at, power, activation: 'none' }) as const;

describe('grid', () => {
  const EXP: Decoder = {
    kind: 'grid',
    output: 'y',
    boxes: { channel: 0, form: 'exp' },
    strides: [8, 16],
    objectness: channel(4),
    classes: channel(5),
  };
  // 2×4 cells of stride 8, then 1×2 of stride 16: row 6 is cell (2, 1) of the first, row 9 cell (1, 0) of the second.
  const ROWS = [...zeros(6 * 7), 0.5, -0.5, Math.log(2), 0, 0.5, 0.8, 0.6, ...zeros(2 * 7), 0.25, 0.5, 0, Math.log(0.5), 1, 0, 0.3];
  const FOUND = [
    [0, 0.4, 12, 0, 28, 8],
    [1, 0.3, 12, 4, 28, 12],
  ];

  it('exp: center (xy + cell) · stride, size e^wh · stride, score objectness · class', async () => {
    expect(listed(await decode(EXP, { y: { dims: [1, 10, 7], data: ROWS } }))).toEqual(FOUND);
  });

  it('channels may be the first axis', async () => {
    const turned = Array.from({ length: 70 }, (_, i) => ROWS[(i % 10) * 7 + Math.floor(i / 10)] ?? 0);
    expect(listed(await decode(EXP, { y: { dims: [1, 7, 10], data: turned } }))).toEqual(FOUND);
  });

  it('labels: all makes a candidate of every class above the threshold', async () => {
    const found = await decode(EXP, { y: { dims: [1, 10, 7], data: ROWS } }, { labels: 'all' });
    expect(listed(found).map(([label, score]) => [label, score])).toEqual([
      [0, 0.4],
      [1, 0.3],
      [1, 0.3],
    ]);
  });

  it('bounded: tanh from the cell, sigmoid of the input; objectness^0.6 · class^0.4 of a map', async () => {
    const decoder: Decoder = {
      kind: 'grid',
      output: 'y',
      boxes: { channel: 1, form: 'bounded' },
      strides: [16],
      objectness: channel(0, 0.6),
      classes: channel(5, 0.4),
    };
    // Cell (1, 0): tanh(0) = 0, sigmoid(0) = ½ of 32×16.
    const data = [0, 0.5, ...zeros(8), 0, 0.25, 0, 0.125];
    const [found] = listed(await decode(decoder, { y: { dims: [1, 7, 1, 2], data } }));
    expect(found).toEqual([0, Number((0.5 ** 0.6 * 0.25 ** 0.4).toFixed(5)), 8, -4, 24, 4]);
  });

  it('center with class logits, as YOLO exports it decoded', async () => {
    const decoder: Decoder = {
      kind: 'grid',
      output: 'y',
      boxes: { channel: 0, form: 'center' },
      strides: [],
      classes: { channel: 4, power: 1, activation: 'sigmoid' },
    };
    const data = [10, 8, 4, 2, 0, -9];
    expect(listed(await decode(decoder, { y: { dims: [1, 1, 6], data } }))).toEqual([[0, 0.5, 8, 7, 12, 9]]);
  });

  it('two negative scores do not multiply to a positive one', async () => {
    const decoder: Decoder = {
      kind: 'grid',
      output: 'y',
      boxes: { channel: 0, form: 'center' },
      strides: [],
      objectness: channel(4),
      classes: channel(5),
    };
    expect(listed(await decode(decoder, { y: { dims: [1, 1, 7], data: [10, 8, 4, 2, -3, -2, 0.5] } }))).toEqual([]);
  });

  it.each([
    [
      'rows that no strides have',
      [1, 9, 7],
      63,
      /^output "y" is \[1, 9, 7\]; the decoder expects \[1, 10, 7\], \[1, 7, 10\] or \[1, 7, height, width\]$/,
    ],
    ['another number of channels', [1, 10, 6], 60, /the decoder expects \[1, 10, 7\]/],
    ['a batch of two', [2, 10, 7], 140, /^output "y" is \[2, 10, 7\]/],
  ] as const)('refuses %s', async (_what, dims, count, message) => {
    const failure = await failureOf(() => decode(EXP, { y: { dims, data: zeros(count) } }));
    expect(failure).toMatchObject({ code: 'decoder-shape', message: expect.stringMatching(message) });
  });

  it('lists the outputs of the model if the named one is missing', async () => {
    expect(await failureOf(() => decode(EXP, { z: { dims: [1], data: [0] } }))).toMatchObject({
      code: 'part-values',
      message: 'the decoder reads output "y", but the model has z',
    });
  });
});

describe('distances', () => {
  const of = (bins: number): Decoder => ({
    kind: 'distances',
    levels: [{ stride: 16, scores: 's', distances: 'd' }],
    bins,
    activation: 'none',
  });

  it('one bin is the distance in strides from the center of the cell', async () => {
    const outputs = { s: { dims: [1, 2, 2], data: [0, 0, 0.2, 0.7] }, d: { dims: [1, 2, 4], data: [0, 0, 0, 0, 0.5, 0.25, 0.125, 0.5] } };
    expect(listed(await decode(of(1), outputs))).toEqual([[1, 0.7, 16, 4, 26, 16]]);
  });

  it('several bins give the expected value of their softmax', async () => {
    // Equal logits of 3 bins: 1. One far above the others: its number.
    const sides = [0, 0, 0, 0, 0, 90, 90, 0, 0, 0, 90, 0];
    const outputs = { s: { dims: [1, 2, 1, 2], data: [0, 0.6, 0, 0] }, d: { dims: [1, 2, 12], data: [...zeros(12), ...sides] } };
    expect(listed(await decode(of(3), outputs))).toEqual([[0, 0.6, 24 - 16, 8 - 32, 24 + 0, 8 + 16]]);
  });
});

describe('priors and boxes', () => {
  const PRIORS: Decoder = {
    kind: 'priors',
    scores: 's',
    boxes: 'b',
    activation: 'none',
    background: true,
    variances: [0.1, 0.2],
    levels: [
      {
        columns: 2,
        rows: 1,
        sizes: [
          [8, 8],
          [64, 4],
        ],
      },
    ],
  };

  it('offsets move and scale priors, which are clipped to the input', async () => {
    // Prior 3: cell 1, 64 wide is cut to 32: centre (24, 8), 32×4. dx 1 → 24 + 0.1 · 32; dh: 4 · e^(0.2 · 5 · ln 2) = 8.
    const scores = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0.1, 0, 0.9];
    const boxes = [...zeros(12), 1, 0, 0, 5 * Math.log(2)];
    expect(listed(await decode(PRIORS, { s: { dims: [1, 4, 3], data: scores }, b: { dims: [1, 4, 4], data: boxes } }))).toEqual([
      [1, 0.9, 11.2, 4, 43.2, 12],
    ]);
  });

  it('boxes may be fractions of the input, with softmax scores and background first', async () => {
    const decoder: Decoder = {
      kind: 'boxes',
      scores: 's',
      boxes: 'b',
      form: 'corners',
      unit: 'fractions',
      activation: 'softmax',
      background: true,
    };
    const outputs = { s: { dims: [1, 1, 3], data: [0, Math.log(2), 0] }, b: { dims: [1, 1, 4], data: [0.25, 0.5, 0.5, 1] } };
    expect(listed(await decode(decoder, outputs))).toEqual([[0, 0.5, 8, 8, 16, 16]]);
  });

  it('priors are counted before they are allocated, so that a mistyped size takes no memory', async () => {
    const many: Decoder = { ...PRIORS, levels: [{ columns: 100_000, rows: 100_000, sizes: [[8, 8]] }] };
    const failure = await failureOf(() =>
      decode(many, { s: { dims: [1, 4, 3], data: zeros(12) }, b: { dims: [1, 4, 4], data: zeros(16) } }),
    );
    expect(failure).toMatchObject({ code: 'decoder-shape', message: expect.stringContaining('10000000000') });
  });

  it('the numbers of scores and boxes must be equal', async () => {
    const failure = await failureOf(() =>
      decode(PRIORS, { s: { dims: [1, 3, 3], data: zeros(9) }, b: { dims: [1, 4, 4], data: zeros(16) } }),
    );
    expect(failure).toMatchObject({ code: 'decoder-shape', message: expect.stringContaining('output "s" is [1, 3, 3]') });
  });
});

describe('detections', () => {
  const DETECTIONS: Decoder = {
    kind: 'detections',
    scores: 's',
    boxes: 'b',
    classes: 'c',
    firstClass: 1,
    corners: 'inclusive',
    masks: { output: 'm', threshold: 0.5 },
  };
  const outputs = (label: number, masks: readonly number[] = [1, 3, 1, 1]) => ({
    s: { dims: [1], data: [0.7] },
    b: { dims: [1, 4], data: [1, 2, 3, 4] },
    c: { dims: [1], data: [label] },
    m: { dims: masks, data: [0.1, 0.2, 0.3] },
  });

  it('uses the mask of its own class', async () => {
    const found = await decode(DETECTIONS, outputs(2));
    expect([...found.classes]).toEqual([1]);
    expect(found.masks?.data[0]).toBeCloseTo(0.3);
  });

  it('has keypoints in pixels of the input', async () => {
    const points = [5, 6, 1, 7, 8, 0];
    const values = { ...outputs(2), p: { dims: [1, 2, 3], data: points } };
    const found = await decode({ ...DETECTIONS, keypoints: { output: 'p' } }, values);
    expect(found.keypoints?.count).toBe(2);
    expect([...(found.keypoints?.data ?? [])]).toEqual(points);
    const odd = { ...values, p: { dims: [2, 1, 3], data: points } };
    expect(await failureOf(() => decode({ ...DETECTIONS, keypoints: { output: 'p' } }, odd))).toMatchObject({
      code: 'decoder-shape',
      message: 'output "p" is [2, 1, 3]; the decoder expects [1, any, 3]',
    });
  });

  it('outputs may have a first dim of 1', async () => {
    const batched = Object.fromEntries(Object.entries(outputs(2)).map(([name, one]) => [name, { ...one, dims: [1, ...one.dims] }]));
    expect(await decode(DETECTIONS, batched)).toEqual(await decode(DETECTIONS, outputs(2)));
  });

  it('an empty output gives no detections', async () => {
    const none = {
      s: { dims: [0], data: [] },
      b: { dims: [0, 4], data: [] },
      c: { dims: [0], data: [] },
      m: { dims: [0, 3, 1, 1], data: [] },
    };
    expect(listed(await decode(DETECTIONS, none))).toEqual([]);
  });

  it.each([
    ['a class beyond the categories', outputs(3), 'decoder-result', /class 3; the recipe has 2 categories, counted from 1/],
    ['masks that lack the class', outputs(2, [1, 1, 1, 3]), 'decoder-shape', /output "m" is \[1, 1, 1, 3\]/],
  ] as const)('refuses %s', async (_what, values, code, message) => {
    expect(await failureOf(() => decode(DETECTIONS, values))).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe('a decoder module', () => {
  const of = (source: string): Decoder => ({ kind: 'module', name: 'mine.js', source, outputs: ['y'], options: { half: 2 } });
  const Y = { y: { dims: [1, 2], data: [4, 6] } };
  const gives = (result: string) => of(`export function decode() { return ${result}; }`);

  it('gets outputs, input, classes, threshold and options', async () => {
    const source = `
      import { strict } from 'node:assert';
      export function decode(outputs, { input, classes, scoreThreshold, options }) {
        strict.deepEqual([input, classes, scoreThreshold], [{ height: 16, width: 32 }, 2, 0.1]);
        const [x, y] = outputs.y.data;
        return { boxes: [0, 0, x / options.half, y], scores: [outputs.y.dims[1] / 4], classes: [1] };
      }`;
    expect(listed(await decode(of(source), Y))).toEqual([[1, 0.5, 0, 0, 2, 6]]);
  });

  it.each([
    ['text that is not JavaScript', 'export function {', 'decoder-module', /decoder "mine.js" is not a valid JavaScript module/],
    ['no export decode', 'export const x = 1;', 'decoder-module', /has no export `decode`/],
    ['imports of other files', "import './helper.js'; export const decode = 1;", 'decoder-module', /imports \.\/helper\.js/],
    [
      'a failure while it is loaded',
      "throw new Error('not today'); export function decode() {}",
      'decoder-module',
      /cannot be loaded: not today/,
    ],
    ['a failure while it decodes', "export function decode() { throw new Error('oh'); }", 'decoder-module', /fails: oh/],
    ['a promise', 'export async function decode() { return {}; }', 'decoder-result', /returns a promise/],
    ['nothing', 'export function decode() {}', 'decoder-result', /returns undefined, expected an object/],
  ] as const)('refuses %s', async (_what, source, code, message) => {
    expect(await failureOf(() => decode(of(source), Y))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each([
    ['{boxes: [1, 2, 3], scores: [1], classes: [0]}', /1 scores and 3 box coordinates, expected 4/],
    ['{boxes: [], scores: []}', /no list of numbers in the field classes/],
    ["{boxes: [1, 2, 3, 'x'], scores: [1], classes: [0]}", /no list of numbers in the field boxes/],
    ['{boxes: [1, 2, 3, 4], scores: [1], classes: []}', /1 scores and 0 classes/],
    ['{boxes: [1, 2, 3, 4], scores: [NaN], classes: [0]}', /object 0 the score NaN/],
    ['{boxes: [1, 2, 3, 4], scores: [1], classes: [2]}', /object 0 the class 2; expected 0 to 1/],
    ['{boxes: [1, 2, 3, 4], scores: [1], classes: [0.5]}', /the class 0.5/],
    ['{boxes: [1, 2, 3, 4], scores: [1], classes: [0], masks: {side: 2, data: [1]}}', /1 mask values, expected 1 · 2 · 2/],
    ['{boxes: new BigInt64Array(4), scores: [1], classes: [0]}', /no list of numbers in the field boxes/],
  ])('refuses %s', async (result, message) => {
    expect(await failureOf(() => decode(gives(result), Y))).toMatchObject({
      code: 'decoder-result',
      message: expect.stringMatching(message),
    });
  });

  it('may return empty lists, typed arrays and masks', async () => {
    expect(listed(await decode(gives('{boxes: [], scores: [], classes: []}'), Y))).toEqual([]);
    const found = await decode(
      gives('{boxes: Float32Array.of(1, 2, 3, 4), scores: Float64Array.of(0.5), classes: Int32Array.of(1), masks: {side: 1, data: [0.9]}}'),
      Y,
    );
    expect(found.masks).toMatchObject({ side: 1, threshold: 0.5 });
  });
});

/** Logit of p. */
const logit = (p: number): number => Math.log(p / (1 - p));

describe('anchors', () => {
  // One cell grid of 2 × 4 cells of stride 8, one anchor of 10 × 6; everything is at cell (2, 1), row 6.
  const decoder = (form: 'exp' | 'square'): Decoder => ({
    kind: 'anchors',
    form,
    levels: [{ stride: 8, output: 'y', anchors: [[10, 6]] }],
  });
  const AT = [logit(0.25), logit(0.5), Math.log(2), 0, logit(0.8), logit(0.5), logit(0.75)];
  const channelsFirst = (): number[] => AT.flatMap(value => [...Array(6).fill(-50), value, -50]);

  it('exp: center (sigmoid xy + cell) · stride, size anchor · e^wh, score objectness · class', async () => {
    // Center (2.25, 1.5) · 8 = (18, 12), size (20, 6); .8 · .75.
    expect(listed(await decode(decoder('exp'), { y: { dims: [1, 7, 2, 4], data: channelsFirst() } }))).toEqual([[1, 0.6, 8, 9, 28, 15]]);
  });

  it('square: center (2 · sigmoid xy − 0.5 + cell) · stride, size anchor · (2 · sigmoid wh)², also channels last', async () => {
    // sigmoid(log 2) = 2/3, so the width is 10 · 16/9; center (2 · .25 − .5 + 2, 2 · .5 − .5 + 1) · 8 = (16, 12).
    const rows = Array.from({ length: 8 }, (_, cell) => (cell === 6 ? AT : Array(7).fill(-50))).flat();
    const half = (10 * 16) / 18;
    expect(listed(await decode(decoder('square'), { y: { dims: [1, 1, 2, 4, 7], data: rows } }))).toEqual([
      [1, 0.6, Number((16 - half).toFixed(4)), 9, Number((16 + half).toFixed(4)), 15],
    ]);
  });

  it('names the shapes that it expects', async () => {
    expect(await failureOf(() => decode(decoder('exp'), { y: { dims: [1, 8, 2, 4], data: zeros(64) } }))).toMatchObject({
      code: 'decoder-shape',
      message: expect.stringContaining('[1, 7, height, width] or [1, 1, height, width, 7] with 8 cells'),
    });
  });
});

describe('joined', () => {
  const decoder = (center: number): Decoder => ({ kind: 'joined', output: 'y', strides: [16], bins: 2, center, activation: 'none' });
  // Two cells of stride 16; two classes, then four sides of two bins: equal logits give half a bin, 8 pixels.
  const ROWS = [...zeros(10), 0.2, 0.9, ...zeros(8)];

  it.each([
    { center: 0.5, box: [16, 0, 32, 16] },
    { center: 0, box: [8, -8, 24, 8] },
  ])('puts the center at $center of the cell, also without a first dim', async ({ center, box }) => {
    expect(listed(await decode(decoder(center), { y: { dims: [2, 10], data: ROWS } }))).toEqual([[1, 0.9, ...box]]);
    expect(listed(await decode(decoder(center), { y: { dims: [1, 2, 10], data: ROWS } }))).toEqual([[1, 0.9, ...box]]);
  });
});

describe('selected', () => {
  const V10: Decoder = { kind: 'selected', output: 'y', box: 0, score: 4, class: 5 };

  it('reads rows above the threshold', async () => {
    const data = [1, 2, 3, 4, 0.9, 1, 5, 6, 7, 8, 0.05, 77];
    expect(listed(await decode(V10, { y: { dims: [1, 2, 6], data } }))).toEqual([[1, 0.9, 1, 2, 3, 4]]);
  });

  it('reads other orders of channels, and no rows', async () => {
    const v7: Decoder = { kind: 'selected', output: 'y', box: 1, score: 6, class: 5 };
    expect(listed(await decode(v7, { y: { dims: [1, 7], data: [0, 1, 2, 3, 4, 1, 0.5] } }))).toEqual([[1, 0.5, 1, 2, 3, 4]]);
    expect(listed(await decode(v7, { y: { dims: [0, 7], data: [] } }))).toEqual([]);
  });

  it('refuses a class without a category', async () => {
    expect(await failureOf(() => decode(V10, { y: { dims: [1, 6], data: [1, 2, 3, 4, 0.9, 2] } }))).toMatchObject({
      code: 'decoder-result',
    });
  });
});

describe('heatmap', () => {
  const CENTERNET: Decoder = { kind: 'heatmap', stride: 8, scores: 's', sizes: 'wh', offsets: 'o', activation: 'sigmoid' };

  it('finds peaks among 3 × 3 cells of their class', async () => {
    const low = logit(0.01);
    // Class 0: a peak at (1, 0), a lower neighbor at (2, 1). Class 1: a peak at (3, 1).
    const first = [low, logit(0.9), low, low, low, low, logit(0.8), low];
    const second = [low, low, low, low, low, low, low, logit(0.7)];
    const outputs = {
      s: { dims: [1, 2, 2, 4], data: [...first, ...second] },
      wh: { dims: [1, 2, 2, 4], data: [...Array(8).fill(2), ...Array(8).fill(1)] },
      o: { dims: [1, 2, 2, 4], data: [...Array(8).fill(0.5), ...Array(8).fill(0.25)] },
    };
    // Centers (1.5, .25) · 8 and (3.5, 1.25) · 8, sizes (16, 8).
    expect(listed(await decode(CENTERNET, outputs))).toEqual([
      [0, 0.9, 4, -2, 20, 6],
      [1, 0.7, 20, 6, 36, 14],
    ]);
  });
});

describe('offsets', () => {
  it('center: c + d · size of the anchor, size: anchor · e^d, at most 1000/16 of it; per anchor all classes', async () => {
    // 1×2 cells of stride 16, two anchors of 8×4 and 4×8. The second anchor has class 1 in the second cell, the first class 0 in the first.
    const scores = [0.3, 0, 0, 0, 0, 0, 0, 0.75];
    const boxes = zeros(16);
    boxes[(4 + 0) * 2 + 1] = 0.5;
    boxes[(4 + 3) * 2 + 1] = Math.log(2);
    boxes[3 * 2] = 50;
    const decoder: Decoder = {
      kind: 'offsets',
      levels: [
        {
          stride: 16,
          scores: 's',
          boxes: 'b',
          anchors: [
            [8, 4],
            [4, 8],
          ],
        },
      ],
      center: 0,
      activation: 'none',
    };
    const outputs = { s: { dims: [1, 4, 1, 2], data: scores }, b: { dims: [1, 8, 1, 2], data: boxes } };
    expect(listed(await decode(decoder, outputs))).toEqual([
      [0, 0.3, -4, -125, 4, 125],
      [1, 0.75, 16, -8, 20, 8],
    ]);
    const centered = listed(await decode({ ...decoder, center: 0.25 }, outputs));
    expect(centered[1]).toEqual([1, 0.75, 20, -4, 24, 12]);
    const failure = await failureOf(() => decode(decoder, { ...outputs, b: { dims: [1, 4, 1, 2], data: zeros(8) } }));
    expect(failure).toMatchObject({ code: 'decoder-shape', message: expect.stringContaining('[1, 8, 1, 2]') });
  });
});

describe('centerness', () => {
  it('score: √(class · centerness), both after the activation', async () => {
    const decoder: Decoder = {
      kind: 'distances',
      levels: [{ stride: 16, scores: 's', distances: 'd', centers: 'c' }],
      bins: 1,
      activation: 'sigmoid',
    };
    const logit = (p: number): number => Math.log(p / (1 - p));
    const outputs = {
      s: { dims: [1, 2, 1, 2], data: [-20, logit(0.81), -20, -20] },
      c: { dims: [1, 1, 1, 2], data: [0, logit(0.36)] },
      d: { dims: [1, 4, 1, 2], data: [0, 1, 0, 0.25, 0, 0.5, 0, 0.5] },
    };
    expect(listed(await decode(decoder, outputs))).toEqual([[0, 0.54, 8, 4, 32, 16]]);
  });
});

describe('points and masks of a grid', () => {
  const SEGMENTS: Decoder = {
    kind: 'grid',
    output: 'y',
    boxes: { channel: 0, form: 'center' },
    strides: [],
    classes: channel(4),
    masks: { prototypes: 'p', channel: 6, count: 2, threshold: 0.5 },
    keypoints: { channel: 8, count: 2, activation: 'sigmoid' },
  };
  // Rows of 14 channels; only the second and third are above the threshold, the third for both classes.
  const ROWS = [...zeros(14), ...[8, 8, 4, 4, 0, 0.5, 1, 2, 3, 4, 0, 5, 6, 20], ...[16, 8, 4, 4, 0.25, 0.75, 3, 4, 7, 8, -20, 9, 10, 0]];
  const outputs = { y: { dims: [1, 3, 14], data: ROWS }, p: { dims: [1, 2, 1, 2], data: [1, 2, 3, 4] } };

  it('belong to the row of each candidate', async () => {
    const found = await decode(SEGMENTS, outputs, { labels: 'all' });
    expect(listed(found).map(([label, score]) => [label, score])).toEqual([
      [1, 0.5],
      [0, 0.25],
      [1, 0.75],
    ]);
    expect(found.masks).toMatchObject({ kind: 'prototypes', channels: 2, height: 1, width: 2 });
    expect(found.masks?.kind === 'prototypes' && [...found.masks.coefficients]).toEqual([1, 2, 3, 4, 3, 4]);
    expect([...(found.keypoints?.data ?? [])].map(value => Number(value.toFixed(3)))).toEqual([
      3, 4, 0.5, 5, 6, 1, 7, 8, 0, 9, 10, 0.5, 7, 8, 0, 9, 10, 0.5,
    ]);
  });

  it('prototypes of another number are refused', async () => {
    const failure = await failureOf(() => decode(SEGMENTS, { ...outputs, p: { dims: [1, 3, 1, 2], data: zeros(6) } }));
    expect(failure).toMatchObject({ code: 'decoder-shape', message: expect.stringContaining('[1, 2, any, any]') });
  });
});
