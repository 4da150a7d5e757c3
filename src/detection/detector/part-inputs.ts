/** What does each part of a detector see of an image file? Its calibration data: one image tensor, and ragged batches of pooled RoIs. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeImage } from '../image/decode-image.js';
import type { Detector, PartInputs } from './detector.js';
import { keepRows } from './part-tensors.js';

/** The inputs of all parts, of those that are fed RoIs the first so many in the detector's order. @throws DetectionError as `decodeImage` and `Detector.findInputs`. */
export async function collectPartInputs(detector: Detector, imagePath: string, most: (part: string) => number): Promise<PartInputs> {
  const inputs = await detector.findInputs(await decodeImage(await readFile(imagePath), basename(imagePath)));
  const kept = detector.parts.map(({ name, rois }) => {
    const found = inputs[name] ?? {};
    return [name, rois === 'none' ? found : keepRows(found, { max: most(name), keep: 'first' })] as const;
  });
  return Object.fromEntries(kept);
}
