import { type FeatureMap, roiAlignInto } from '../../../src/detection/roi-align.js';
import { openRoiAlign } from '../../../src/detection/roi-align-session.js';
import { compareArrays } from '../../../src/tensor/compare.js';

describe('RoIAlign by ONNX Runtime', () => {
  it.each([
    [7, 2],
    [14, 2],
    [5, 0],
  ])('%p×%p: gives what the kernel in TypeScript gives, up to rounding of float32 sums', async (size, samplingRatio) => {
    const map: FeatureMap = {
      data: Float32Array.from({ length: 3 * 9 * 12 }, (_, i) => Math.sin(i * i)),
      channels: 3,
      height: 9,
      width: 12,
      scale: 1 / 8,
    };
    const boxes = Float32Array.of(0, 0, 95, 71, 3.7, 10.2, 8.1, 10.9, -20, -30, 40, 50, 60, 60, 200, 200, 10, 10, 10, 10);
    const session = await openRoiAlign({ size, samplingRatio }, { optimization: 'all' });
    const found = await session.pool(map, boxes);
    await session.close();
    const expected = new Float32Array(5 * 3 * size * size);
    roiAlignInto(expected, map, boxes, [0, 1, 2, 3, 4], { size, samplingRatio });
    expect(compareArrays(expected, found).maxAbs).toBeLessThan(1e-6);
  });
});
