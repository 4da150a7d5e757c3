/** Compares two detectors image by image: every value of every part on equal inputs, then the detections of each side. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { compareDetections, type DetectionComparison } from '../../src/detection/compare/compare-detections.js';
import { compareParts, type ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import { isFirstPart } from '../../src/detection/detector/detector-part.js';
import { decodeImage, type RgbImage } from '../../src/detection/image/decode-image.js';
import type { ChosenImage } from './choose-images.js';
import type { VerifyJob } from './params.js';
import type { PartComparer } from './part-errors.js';
import { openReference } from './reference.js';
import { summarize } from './report.js';
import { formsOf } from './selections.js';
import { listPartsOnTiles, openSide, type SideOptions, withOpened } from './sides.js';
import type { Summary } from './summary.js';

export async function compareDetectors(
  job: VerifyJob,
  images: readonly ChosenImage[],
  { reference: options, candidate: candidateOptions }: { readonly reference: SideOptions; readonly candidate: SideOptions },
  errors: PartComparer,
): Promise<Summary> {
  const { params, inputs, context } = job;
  const rule = { matchIou: params.matchIou, minScore: params.minScore };
  const onTiles = listPartsOnTiles(options, candidateOptions);
  const values: ValueComparisons[] = [];
  const detections: DetectionComparison[] = [];
  const differing = new Map<string, string>();
  const { splitKinds, parts: all } = options.definition;
  const first = all.find(part => isFirstPart(part, all) && !onTiles.includes(part.name));
  const ahead = first === undefined ? [] : await compareAhead(first.name, images, options, errors);
  const sides = [openReference(job, options), openSide(inputs, 'candidate', params.candidate, candidateOptions)] as const;
  await withOpened(sides, async ([reference, candidate]) => {
    const parts = reference.parts.filter(part => !onTiles.includes(part.name));
    const mayDiffer = new Set<string>();
    for (const part of parts) for (const output of await errors.openSelections(part.name, formsOf(part, splitKinds))) mayDiffer.add(output);
    for (const [index, chosen] of images.entries()) {
      const { id, path } = chosen;
      context.signal.throwIfAborted();
      const image = ahead[index] ?? (await readImage(path));
      const [right, own] = [await reference.trace(chosen, image), await candidate.trace(image)];
      values.push(await compareParts(right, candidate, own, { splitKinds, shapes: { mayDiffer, differing } }));
      detections.push(compareDetections(id, right.objects, own.objects, rule));
      for (const { name } of parts) {
        const what = name === first?.name && index < ahead.length ? 'selections' : 'all';
        await errors.add(name, getDefined(right.inputs[name], name), { label: nameImage(chosen), what });
      }
      context.progress(index + 1, images.length, 'images');
    }
  });
  return summarize(values, detections, differing);
}

export function nameImage({ id, path }: ChosenImage): string {
  return `image ${id} (${basename(path)})`;
}

/** Pixels of images that are kept from then on. */
const MOST_KEPT_BYTES = 32 << 20;

/**
 * Gives the first images to the second thread, if there is one: the input of the first part needs no model.
 * @returns these images.
 */
async function compareAhead(
  part: string,
  images: readonly ChosenImage[],
  { definition }: SideOptions,
  errors: PartComparer,
): Promise<readonly RgbImage[]> {
  const ahead: RgbImage[] = [];
  let keptBytes = 0;
  for (const image of images) {
    if (!errors.wantsMore() || keptBytes > MOST_KEPT_BYTES) break;
    const pixels = await readImage(image.path);
    await errors.addValues(part, definition.prepareInput(pixels), nameImage(image));
    ahead.push(pixels);
    keptBytes += pixels.data.byteLength;
  }
  return ahead;
}

export async function readImage(path: string): Promise<RgbImage> {
  return decodeImage(await readFile(path), basename(path));
}
