/** Are images of odd sizes fitted as torchvision's transform fits them? Oracle: recordings of torchvision, and of a static fit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeImage } from '../../../src/detection/image.js';
import { type Fit, fitImage, mapBoxesBack } from '../../../src/detection/transform.js';
import { readNpz } from '../../../src/tensor/npz.js';
import { maxDifference } from '../../support/max-difference.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const folder = join(shared ?? '', 'shapes/fit');

interface RecordedSizes {
  readonly size: readonly [number, number];
  readonly padded: readonly [number, number];
}
type Recorded = { readonly file: string } & Readonly<Record<Fit['kind'], RecordedSizes>>;

const NORMALISATION = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const FITS: readonly Fit[] = [
  { kind: 'torchvision', minSize: 192, maxSize: 256, sizeDivisible: 32 },
  { kind: 'static', height: 192, width: 256 },
];

function cases(): [string, Fit['kind'], Fit, RecordedSizes][] {
  if (shared === undefined) return [];
  const { images } = JSON.parse(readFileSync(join(folder, 'images.json'), 'utf8')) as { images: Recorded[] };
  return images.flatMap(image =>
    FITS.map(fit => [image.file, fit.kind, fit, image[fit.kind]] as [string, Fit['kind'], Fit, RecordedSizes]),
  );
}

(shared === undefined ? describe.skip : describe)('fit of odd images', () => {
  it.each(cases())('%s under %s: sizes, tensor and boxes as recorded', async (file, kind, fit, recorded) => {
    const fitted = fitImage(await decodeImage(readFileSync(join(folder, file)), file), fit, NORMALISATION);
    const arrays = await readNpz(join(folder, file.replace('.png', '.npz')));

    expect([fitted.resized.height, fitted.resized.width]).toEqual(recorded.size);
    expect([fitted.padded.height, fitted.padded.width]).toEqual(recorded.padded);
    // The formula written out meets the recordings within 3.4e-6: torch sums the four products in another order.
    expect(maxDifference(fitted.tensor.data, arrays.getFloat32(`${kind}_input`).data)).toBeLessThan(3.5e-6);
    const boxes = mapBoxesBack(arrays.getFloat32(`${kind}_boxes`).data, fitted);
    expect(maxDifference(boxes, arrays.getFloat32(`${kind}_final_boxes`).data)).toBe(0);
  });
});
