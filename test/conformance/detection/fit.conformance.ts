/** Images of odd sizes are fitted to the input of the network, and detected in, as torchvision does it. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../../src/base/invariant.js';
import type { DetectedObjects } from '../../../src/detection/detector/detector.js';
import { findObjectMask } from '../../../src/detection/detector/object-masks.js';
import { prepareImage } from '../../../src/detection/families/maskrcnn/prepare-image.js';
import { boxAreas, boxIou } from '../../../src/detection/geometry/boxes.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { rleArea } from '../../../src/detection/masks/rle.js';
import { rleIou } from '../../../src/detection/masks/rle-combine.js';
import { decodeRleText } from '../../../src/detection/masks/rle-text.js';
import { compareArrays, momentsOf, standardDeviationOf } from '../../../src/tensor/compare.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import { exportShapes, openShapes } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

interface RecordedFit {
  readonly size: readonly [height: number, width: number];
  readonly padded: readonly [height: number, width: number];
  readonly detections: number;
}

interface RecordedImage {
  readonly id: number;
  readonly file: string;
  readonly torchvision: RecordedFit;
  readonly static: RecordedFit;
}

const folder = join(findSharedFolder() ?? '', 'shapes/fit');
const hasData = findSharedFolder() !== undefined;
const FILES = ['portrait', 'wide', 'tiny', 'large', 'grey', 'alpha', 'exact'].map(name => `${name}.png`);
const POLICIES = ['torchvision', 'static'] as const;
const cases = FILES.flatMap(file => [
  ...POLICIES.map(policy => ({ file, policy, size: 'fixed' as const })),
  { file, policy: 'torchvision' as const, size: 'free' as const },
]);

function readRecorded(file: string, policy: (typeof POLICIES)[number]): { readonly id: number; readonly recorded: RecordedFit } {
  const { images } = JSON.parse(readFileSync(join(folder, 'images.json'), 'utf8')) as { readonly images: readonly RecordedImage[] };
  const image = images.find(candidate => candidate.file === file);
  if (image === undefined || images.length !== FILES.length) throw new Error(`images.json lists other files than ${FILES.join(', ')}`);
  return { id: image.id, recorded: image[policy] };
}

/** Share of the wanted detections that have a partner of their class with IoU above 0.99 and a score within 1e-3. */
function shareFound(archive: NpzArchive, policy: string, found: { boxes: Float32Array; scores: Float32Array; labels: Int32Array }): number {
  const boxes = archive.getFloat32(`${policy}_final_boxes`).data;
  const scores = archive.getFloat32(`${policy}_scores`).data;
  const labels = archive.get(`${policy}_labels`);
  const wanted = labels.dtype === 'int64' ? Array.from(labels.data, Number) : [];
  const [areas, others] = [boxAreas(boxes), boxAreas(found.boxes)];
  const partners = wanted.filter((label, row) =>
    others.some(
      (area, other) =>
        found.labels[other] === label &&
        Math.abs((found.scores[other] ?? 0) - (scores[row] ?? 0)) < 1e-3 &&
        boxIou(boxes, areas[row] ?? 0, row, found.boxes, area, other) > 0.99,
    ),
  );
  return partners.length / wanted.length;
}

/** The best IoU of each recorded mask with one of ours. A pixel on the threshold may fall to either side. */
function masksFound(policy: string, id: number, objects: DetectedObjects): number[] {
  const text = readFileSync(join(folder, `detections_${policy}.json`), 'utf8');
  const { height, width } = objects.size;
  const recorded = (JSON.parse(text) as { image_id: number; segmentation: { counts: string } }[]).filter(one => one.image_id === id);
  const ours = Array.from(objects.scores, (_, index) => getDefined(findObjectMask(objects, index), 'a mask'));
  return recorded.map(({ segmentation }) => {
    const mask = decodeRleText(segmentation.counts, height, width);
    return rleArea(mask) === 0 ? 1 : Math.max(...ours.map(own => rleIou(own, mask)));
  });
}

(hasData ? describe : describe.skip).each(cases)('$file fitted as $policy to a $size size', ({ file, policy, size }) => {
  it('gives the recorded input tensor and detections', async () => {
    const { id, recorded } = readRecorded(file, policy);
    const [height, width] = recorded.padded;
    const fixed = size === 'fixed' ? { height, width } : {};
    const detector = await openShapes({ ...fixed, size, fit: policy });
    const archive = await readNpz(join(folder, file.replace('.png', '.npz')));
    const image = await decodeImage(await readFile(join(folder, file)), file);
    const { recipe } = await exportShapes({ ...fixed, size, fit: policy });
    const prepared = prepareImage({ recipe, config: recipe.config, fit: policy }, image);
    expect([prepared.resized.height, prepared.resized.width]).toEqual(recorded.size);
    const input = archive.getFloat32(`${policy}_input`);
    expect(prepared.tensor.dims).toEqual(input.dims);
    expect(compareArrays(input.data, prepared.tensor.data).maxAbs / standardDeviationOf(momentsOf(input.data))).toBeLessThan(1e-3);
    const { objects } = await detector.trace(image);
    await detector.close();
    expect(objects.scores.length).toBe(recorded.detections);
    expect(shareFound(archive, policy, objects)).toBeGreaterThanOrEqual(0.99);
    expect(Math.min(...masksFound(policy, id, objects))).toBeGreaterThan(0.99);
  });
});
