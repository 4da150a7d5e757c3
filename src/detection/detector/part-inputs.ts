/** Inputs of each part of a detector for an image file, as calibration data: the image tensor, and pooled RoIs of any number. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeImage } from '../image/decode-image.js';
import type { Detector, PartInputs } from './detector.js';
import { keepRows } from './part-tensors.js';

/** The inputs of all parts. RoI parts keep the first `most(part)` RoIs in the detector's order. @throws DetectionError as `decodeImage` and `Detector.findInputs`. */
export async function collectPartInputs(detector: Detector, imagePath: string, most: (part: string) => number): Promise<PartInputs> {
  const inputs = await detector.findInputs(await decodeImage(await readFile(imagePath), basename(imagePath)));
  const kept = detector.parts.map(({ name, rois }) => {
    const found = inputs[name] ?? {};
    return [name, rois === 'none' ? found : keepRows(found, { max: most(name), keep: 'first' })] as const;
  });
  return Object.fromEntries(kept);
}
