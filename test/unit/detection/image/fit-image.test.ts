/** Fitting of images, against recorded results of torchvision and of the static policy. */
import { readFileSync } from 'node:fs';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { type Fit, fitImage, fitSizes, mapBoxesBack } from '../../../../src/detection/image/fit-image.js';
import { resizeBilinear } from '../../../../src/detection/image/resize.js';
import { readNpz } from '../../../../src/tensor/formats/npz.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';
import { maxDifference } from '../../../support/max-difference.js';

const TORCHVISION: Fit = { kind: 'torchvision', minSize: 192, maxSize: 256, sizeDivisible: 32 };
const STATIC: Fit = { kind: 'static', height: 192, width: 256 };
const NORMALISATION = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

describe('fitting an image', () => {
  it('tensor and boxes of the static policy equal the recorded ones', async () => {
    const image = await decodeImage(readFileSync(fixturePath('detection', 'tiny.png')), 'tiny.png');
    const arrays = await readNpz(fixturePath('detection', 'tiny.npz'));
    const fitted = fitImage(image, STATIC, NORMALISATION);
    // The formula written out meets the recordings within 3.4e-6: torch sums the four products in another order.
    expect(maxDifference(fitted.tensor.data, arrays.getFloat32('static_input').data)).toBeLessThan(3.5e-6);
    const boxes = mapBoxesBack(arrays.getFloat32('static_boxes').data, fitted);
    expect(maxDifference(boxes, arrays.getFloat32('static_final_boxes').data)).toBe(0);
  });

  it('a product just below an integer is truncated, not rounded: 479 · (256 / 479) gives 255', () => {
    const sizes = fitSizes({ height: 320, width: 479 }, TORCHVISION);
    expect(sizes.resized).toEqual({ height: 171, width: 255 });
    expect(sizes.padded).toEqual({ height: 192, width: 256 });
  });

  it('an image that would have a side of less than one pixel is rejected', async () => {
    expect((await failureOf(() => fitSizes({ height: 1, width: 1000 }, STATIC))).code).toBe('image-too-narrow');
  });
});

describe('an image in a larger input', () => {
  it('has the same pixels in the upper left corner, and zeros elsewhere', async () => {
    const image = await decodeImage(readFileSync(fixturePath('detection', 'tiny.png')), 'tiny.png');
    const [small, large] = [TORCHVISION, { ...TORCHVISION, atLeast: { height: 256, width: 288 } }].map(fit =>
      fitImage(image, fit, NORMALISATION),
    );
    expect(large?.padded).toEqual({ height: 256, width: 288 });
    expect([large?.resized, large?.original]).toEqual([small?.resized, small?.original]);
    const [, , height = 0, width = 0] = small?.tensor.dims ?? [];
    const differing = Array.from(large?.tensor.data ?? []).filter((value, index) => {
      const [x, y, channel] = [index % 288, Math.trunc(index / 288) % 256, Math.trunc(index / (288 * 256))];
      return value !== (y < height && x < width ? small?.tensor.data[(channel * height + y) * width + x] : 0);
    });
    expect(differing).toEqual([]);
  });

  it('is not scaled down: the caller rejects images that do not fit', () => {
    expect(fitSizes({ height: 100, width: 300 }, { ...TORCHVISION, atLeast: { height: 64, width: 64 } }).padded).toEqual({
      height: 96,
      width: 256,
    });
  });
});

describe('bilinear resize', () => {
  it('has half-pixel centers and repeats the border', () => {
    const wide = resizeBilinear(Float32Array.of(0, 4), { height: 1, width: 2 }, { height: 1, width: 4 });
    expect([...wide]).toEqual([0, 1, 3, 4]);
  });

  it('does not average when shrinking', () => {
    const narrow = resizeBilinear(Float32Array.of(9, 0, 0, 9, 9, 0, 0, 9), { height: 1, width: 8 }, { height: 1, width: 2 });
    expect([...narrow]).toEqual([0, 0]);
  });
});
