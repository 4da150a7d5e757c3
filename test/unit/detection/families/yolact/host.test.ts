/** The host of YOLACT: priors, suppression, masks and objects. */
import type { Candidates } from '../../../../../src/detection/families/yolact/candidates.js';
import type { DetectionConfig, PriorConfig } from '../../../../../src/detection/families/yolact/config.js';
import { exportYolact } from '../../../../../src/detection/families/yolact/export/export-yolact.js';
import { assembleMasks } from '../../../../../src/detection/families/yolact/masks.js';
import { categoriesOf, findBoxes, findMasks, makeHost } from '../../../../../src/detection/families/yolact/objects.js';
import { makePriors } from '../../../../../src/detection/families/yolact/priors.js';
import { selectCandidates } from '../../../../../src/detection/families/yolact/suppression.js';
import { resizeBilinear } from '../../../../../src/detection/image/resize.js';
import { decodeMask } from '../../../../../src/detection/masks/rle.js';
import { makeTensor, type Tensor } from '../../../../../src/tensor/tensor.js';
import { uniform } from '../../../../support/generated-weights.js';
import { TINY_RESNET, TINY_YOLACT_CONFIG, tinyYolactState } from '../../../../support/tiny-yolact.js';

describe('priors', () => {
  const config: PriorConfig = { ...TINY_YOLACT_CONFIG.priors, scales: [[10]], aspectRatios: [1, 4] };

  it('are centered in their cells, ordered by row, then by aspect ratio', () => {
    const priors = makePriors({ height: 1, width: 2 }, 0, { ...config, useSquareAnchors: false }, 100);
    const rows = [0, 1, 2, 3].map(row => [...priors.subarray(4 * row, 4 * row + 4)].map(value => Number(value.toFixed(6))));
    expect(rows).toEqual([
      [0.25, 0.5, 0.1, 0.1],
      [0.25, 0.5, 0.2, 0.05],
      [0.75, 0.5, 0.1, 0.1],
      [0.75, 0.5, 0.2, 0.05],
    ]);
  });

  it.each([
    ['square anchors are as high as wide', { useSquareAnchors: true }, [0.2, 0.2]],
    ['ratios may be given as roots', { preapplySqrt: true, useSquareAnchors: false }, [0.4, 0.025]],
    ['scales may count cells', { usePixelScales: false, useSquareAnchors: false }, [10, 5]],
  ] as [string, Partial<PriorConfig>, number[]][])('%s', (_, change, shape) => {
    const priors = makePriors({ height: 1, width: 2 }, 0, { ...config, ...change }, 100);
    expect([...priors.subarray(6, 8)]).toEqual(shape.map(Math.fround));
  });
});

describe('suppression', () => {
  const detection: DetectionConfig = { ...TINY_YOLACT_CONFIG.detection, nmsThreshold: 0.5 };
  /** Three boxes in a row, each over half of its neighbor, the ends over none of each other. */
  const chain = Float32Array.of(0, 0, 0.3, 1, 0.1, 0, 0.4, 1, 0.2, 0, 0.5, 1);
  const candidates = (rows: readonly (readonly number[])[], boxes: Float32Array): Candidates => ({
    boxes,
    probabilities: Float32Array.from(rows.flat()),
    classes: rows[0]?.length ?? 0,
    coefficients: new Float32Array(0),
  });
  const one = candidates(
    [
      [0.1, 0.9],
      [0.2, 0.8],
      [0.3, 0.7],
    ],
    chain,
  );

  it('fast: a suppressed box still suppresses others', () => {
    expect([...selectCandidates(one, { ...detection, nmsThreshold: 0.49 }, 100).candidates]).toEqual([0]);
  });

  it('traditional: a suppressed box suppresses no others', () => {
    expect([...selectCandidates(one, { ...detection, nms: 'traditional', nmsThreshold: 0.49 }, 100).candidates]).toEqual([0, 2]);
  });

  it('a box with IoU equal to the threshold is kept by the fast form and suppressed by the traditional one, which counts pixels inclusively', () => {
    const halves = candidates(
      [
        [0.1, 0.9],
        [0.2, 0.8],
      ],
      Float32Array.of(0, 0, 1, 1, 0, 0, 1, 0.5),
    );
    expect([...selectCandidates(halves, detection, 100).candidates]).toEqual([0, 1]);
    expect([...selectCandidates(halves, { ...detection, nms: 'traditional' }, 100).candidates]).toEqual([0]);
    // 99 pixels, the last one included: 100 · 50 of 100 · 100.
    const pixels = { ...halves, boxes: Float32Array.of(0, 0, 0.99, 0.99, 0, 0, 0.99, 0.49) };
    expect([...selectCandidates(pixels, { ...detection, nms: 'traditional' }, 100).candidates]).toEqual([0]);
  });

  const two = candidates(
    [
      [0.1, 0.6, 0.3],
      [0.1, 0.02, 0.88],
    ],
    Float32Array.of(0, 0, 1, 1, 0, 0, 1, 0.9),
  );

  it('fast: one box may become objects of several classes, also below the score threshold', () => {
    const { candidates: kept, classes, scores } = selectCandidates(two, detection, 100);
    expect([...kept]).toEqual([1, 0]);
    expect([...classes]).toEqual([2, 1]);
    expect([...scores]).toEqual([0.88, 0.6].map(Math.fround));
    const apart = { ...two, boxes: Float32Array.of(0, 0, 0.5, 1, 0.5, 0, 1, 1) };
    expect(selectCandidates(apart, detection, 100).scores).toHaveLength(4);
    expect(selectCandidates(apart, { ...detection, maxDetections: 3 }, 100).scores).toHaveLength(3);
    expect(selectCandidates(apart, { ...detection, topK: 1 }, 100).scores).toHaveLength(2);
  });

  it('fast across classes: a box has only its best class', () => {
    const { candidates: kept, classes } = selectCandidates(two, { ...detection, nms: 'fast-cross-class' }, 100);
    expect([...kept]).toEqual([1]);
    expect([...classes]).toEqual([2]);
  });

  it.each(['fast', 'fast-cross-class', 'traditional'] as const)('%s: no boxes give no objects', nms => {
    expect(selectCandidates(candidates([], new Float32Array(0)), { ...detection, nms }, 100).scores).toHaveLength(0);
  });
});

describe('masks', () => {
  const [channels, height, width] = [3, 9, 11];
  const prototypes = {
    data: Float32Array.from(uniform('prototypes', channels * height * width), value => 4 * value),
    channels,
    height,
    width,
  };

  it.each([
    ['larger', { height: 31, width: 40 }],
    ['smaller', { height: 5, width: 7 }],
    ['much wider', { height: 1, width: 90 }],
  ])('are the product of prototypes and coefficients, cropped with one cell around the box, resized and thresholded, in a %s image', (_, image) => {
    const boxes = Float32Array.of(0.2, 0.3, 0.6, 0.9, -0.5, 0.1, 0.2, 2, 0.7, 0.7, 0.4, 0.2, 1.4, 1.2, 1.6, 1.5);
    const coefficients = Float32Array.from(uniform('coefficients', 4 * channels));
    const masks = assembleMasks(prototypes, { coefficients, boxes, image, threshold: 0.5 });
    for (const [index, mask] of masks.entries()) {
      const expected = assembleWhole(coefficients.subarray(3 * index, 3 * index + 3), boxes.subarray(4 * index, 4 * index + 4), image);
      expect([...decodeMask(mask)]).toEqual(expected);
    }
    expect(masks.map(mask => decodeMask(mask).includes(1))).toContain(true);
  });

  /** The original's order of work, on whole planes. */
  function assembleWhole(
    row: Float32Array,
    [x1 = 0, y1 = 0, x2 = 0, y2 = 0]: Float32Array,
    image: { height: number; width: number },
  ): number[] {
    const plane = new Float32Array(height * width);
    const inside = (cell: number, a: number, b: number, cells: number): boolean =>
      cell >= Math.max(Math.min(a, b) * cells - 1, 0) && cell < Math.min(Math.max(a, b) * cells + 1, cells);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const sum = row.reduce((total, factor, channel) => {
          return total + factor * Math.max(prototypes.data[(channel * height + y) * width + x] ?? 0, 0);
        }, 0);
        if (inside(x, x1, x2, width) && inside(y, y1, y2, height)) plane[y * width + x] = 1 / (1 + Math.exp(-sum));
      }
    return [...resizeBilinear(plane, { height, width }, image)].map(value => (value > 0.5 ? 1 : 0));
  }
});

describe('objects', () => {
  const { recipe } = exportYolact(tinyYolactState(TINY_RESNET), TINY_YOLACT_CONFIG, { height: 74, width: 74 });
  const host = makeHost(recipe, TINY_YOLACT_CONFIG);
  const image = { height: 50, width: 100 };
  const priors = TINY_YOLACT_CONFIG.priors.aspectRatios.length;

  /** All outputs zero but the background's logits, and then what `change` does. */
  function outputs(change: (name: string, data: Float32Array) => void): Record<string, Tensor<'float32'>> {
    const make = (name: string, dims: number[]): [string, Tensor<'float32'>] => {
      const data = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
      change(name, data);
      return [name, makeTensor('float32', dims, data)];
    };
    return Object.fromEntries([
      ...recipe.levels.flatMap(({ boxes, classes, coefficients, height, width }) => [
        make(boxes, [1, 4 * priors, height, width]),
        make(classes, [1, 3 * priors, height, width]),
        make(coefficients, [1, 5 * priors, height, width]),
      ]),
      make(recipe.prototypes.value, [1, 5, recipe.prototypes.height, recipe.prototypes.width]),
    ]);
  }

  const background = (name: string, data: Float32Array): void => {
    if (!name.startsWith('conf_')) return;
    const area = data.length / 9;
    for (const prior of [0, 1, 2]) data.fill(10, prior * 3 * area, (prior * 3 + 1) * area);
  };

  it('an image without objects gives an empty list', () => {
    const values = outputs(background);
    const found = findBoxes(host, values, image);
    expect(found.boxes).toHaveLength(0);
    expect(findMasks(host, values, found, image)).toEqual([]);
  });

  it('a prior above the threshold becomes an object of its category, in whole pixels of the image', () => {
    const values = outputs((name, data) => {
      background(name, data);
      // Level 4 has one cell: its first prior is 64 pixels of 74, in the middle.
      if (name === 'conf_4') data.set([0, 0, 9], 0);
      if (name === 'bbox_4') data.set([1, 0, 0, 0], 0);
      if (name === 'mask_4') data.set([3, 0, 0, 0, 0], 0);
      if (name === 'proto_raw') data.fill(2, 0, 400);
    });
    const found = findBoxes(host, values, image);
    const side = 64 / 74;
    const left = 0.5 + 0.1 * side - side / 2;
    const [category] = categoriesOf(found.selection.classes, TINY_YOLACT_CONFIG);
    expect(category).toBe(8);
    expect([...found.boxes.subarray(0, 4)]).toEqual([
      Math.trunc(100 * left),
      Math.trunc(50 * (0.5 - side / 2)),
      100,
      Math.trunc(50 * (0.5 + side / 2)),
    ]);
    const [mask] = findMasks(host, values, found, image);
    expect(mask === undefined ? 0 : decodeMask(mask)[25 * 100 + 60]).toBe(1);
    expect(mask === undefined ? 1 : decodeMask(mask)[25 * 100 + 2]).toBe(0);
  });

  it('a box outside of the image gives no object', () => {
    const values = outputs((name, data) => {
      background(name, data);
      if (name === 'conf_4') data.set([0, 0, 9], 0);
      if (name === 'bbox_4') data.set([100, 0, 0, 0], 0);
    });
    expect(findBoxes(host, values, image).boxes).toHaveLength(0);
  });

  it('a network of another size is refused', () => {
    const values = { ...outputs(background), bbox_0: makeTensor('float32', [1, 12, 9, 9], new Float32Array(12 * 81)) };
    expect(() => findBoxes(host, values, image)).toThrow(expect.objectContaining({ code: 'part-values' }));
  });
});
