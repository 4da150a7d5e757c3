/** How are two whole detectors compared? Image by image: every value of every part on equal inputs, then the detections that each side finds on its own. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeImage } from '../../src/detection/image.js';
import { compareDetections, type DetectionComparison } from '../../src/detection/torchvision/compare-detections.js';
import { compareParts, type ValueComparisons } from '../../src/detection/torchvision/compare-parts.js';
import {
  type Detector,
  locateObjects,
  prepareImage,
  readObjects,
  runRoiHead,
  traceImage,
} from '../../src/detection/torchvision/detector.js';
import type { ChosenImage } from './choose-images.js';
import type { VerifyJob } from './params.js';
import { type Summary, summarize } from './report.js';
import { openSide, type SideOptions, withOpened } from './sides.js';
import type { ValueErrors } from './value-errors.js';

export async function compareDetectors(
  { params, inputs, context }: VerifyJob,
  images: readonly ChosenImage[],
  { reference: options, candidate: candidateOptions }: { readonly reference: SideOptions; readonly candidate: SideOptions },
  errors: ValueErrors,
): Promise<Summary> {
  const rule = { matchIou: params.matchIou, minScore: params.minScore, maskThreshold: options.config.mask.threshold };
  const values: ValueComparisons[] = [];
  const detections: DetectionComparison[] = [];
  const sides = [
    openSide(inputs, 'reference', params.reference, options),
    openSide(inputs, 'candidate', params.candidate, candidateOptions),
  ] as const;
  await withOpened(sides, async ([reference, candidate]) => {
    for (const [index, image] of images.entries()) {
      context.signal.throwIfAborted();
      const trace = await traceImage(reference, await prepareFile(reference, image.path));
      const compared = await compareParts(trace, candidate);
      const located = await locateObjects(candidate, compared.backbone, trace.image.resized);
      const maskHead = await runRoiHead(candidate, 'mask_head', located.maskFeatures);
      const found = readObjects(candidate, { image: trace.image, ...located, maskHead });
      values.push(compared.values);
      detections.push(compareDetections(image.id, readObjects(reference, trace), found, rule));
      await errors.add('backbone', trace.image.tensor);
      await errors.add('box_head', trace.boxFeatures);
      await errors.add('mask_head', trace.maskFeatures);
      context.progress(index + 1, images.length, 'images');
    }
  });
  return summarize(values, detections);
}

export async function prepareFile(detector: Pick<Detector, 'recipe' | 'config' | 'fit'>, path: string) {
  return prepareImage(detector, await decodeImage(await readFile(path), basename(path)));
}
