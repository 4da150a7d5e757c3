/** RoIAlign in plain code and in the kernel, bit for bit against ONNX Runtime. */
import fc from 'fast-check';
import { type FeatureMap, type RoiAlignOptions, roiAlignInto } from '../../../../src/detection/geometry/roi-align.js';
import { roiAlignByKernel } from '../../../../src/detection/geometry/roi-align-kernel.js';
import { compareArrays } from '../../../../src/tensor/compare.js';
import { openRoiAlign } from '../../../support/roi-align-operator.js';

function givenMap(channels: number, height: number, width: number): FeatureMap {
  const data = Float32Array.from({ length: channels * height * width }, (_, i) => 3 * Math.sin(i * i + 1));
  return { data, channels, height, width, scale: 1 / 8 };
}

/** Inside, tiny, across every edge, outside, without extent, larger than the map; in input pixels. */
const BOXES = Float32Array.of(
  ...[0, 0, 95, 71, 3.7, 10.2, 8.1, 10.9, -20, -30, 40, 50, 60, 60, 200, 200],
  ...[10, 10, 10, 10, 500, 500, 600, 600, -300, -300, 900, 900, 30.3, 2.9, 77.1, 65.2],
);
const COUNT = BOXES.length / 4;
const ALL = Array.from({ length: COUNT }, (_, index) => index);

const pool = (way: typeof roiAlignInto, map: FeatureMap, options: RoiAlignOptions): Float32Array => {
  const target = new Float32Array(COUNT * map.channels * options.size ** 2);
  way(target, map, BOXES, ALL, options);
  return target;
};

const isEqual = (a: Float32Array, b: Float32Array): boolean => Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) === 0;

describe('RoIAlign', () => {
  it.each([
    [7, 2],
    [14, 2],
    [5, 0],
  ])('%i bins along each axis, sampling ratio %i: the plain code gives what ONNX Runtime gives', async (size, samplingRatio) => {
    const map = givenMap(3, 9, 12);
    const session = await openRoiAlign({ size, samplingRatio }, { optimization: 'all' });
    const found = await session.pool(map, BOXES);
    await session.close();
    const plain = pool(roiAlignInto, map, { size, samplingRatio });
    // Elsewhere its compiler may join multiplications and additions.
    expect(compareArrays(found, plain).maxAbs).toBeLessThanOrEqual(process.arch === 'x64' ? 0 : 1e-6);
  });

  it('the kernel equals the plain code for all sizes', () => {
    const sizes = fc.record({
      channels: fc.integer({ min: 1, max: 21 }),
      height: fc.integer({ min: 1, max: 13 }),
      width: fc.integer({ min: 1, max: 13 }),
      size: fc.integer({ min: 1, max: 8 }),
      samplingRatio: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(sizes, ({ channels, height, width, size, samplingRatio }) => {
        const map = givenMap(channels, height, width);
        const [plain, kernel] = [roiAlignInto, roiAlignByKernel].map(way => pool(way, map, { size, samplingRatio })) as [
          Float32Array,
          Float32Array,
        ];
        expect(isEqual(plain, kernel)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('more channels than fit at once, and RoIs in another order, give the same results', () => {
    const map = givenMap(264, 5, 7);
    const options = { size: 32, samplingRatio: 1 };
    const order = [2, 1];
    const [plain, kernel] = [new Float32Array(3 * 264 * 1024), new Float32Array(3 * 264 * 1024)];
    roiAlignInto(plain, map, BOXES, order, options);
    roiAlignByKernel(kernel, map, BOXES, order, options);
    expect(isEqual(plain, kernel)).toBe(true);
    expect(kernel.subarray(0, 264 * 1024).findIndex(value => value !== 0)).toBe(-1);
  });

  it.each([
    ['a map whose channels do not fit', 730, 730, { size: 1, samplingRatio: 1 }],
    ['more points than fit', 40, 40, { size: 3, samplingRatio: 90 }],
  ])('%s is pooled where it is', (_, height, width, options) => {
    const map = givenMap(1, height, width);
    expect(isEqual(pool(roiAlignInto, map, options), pool(roiAlignByKernel, map, options))).toBe(true);
  });
});
