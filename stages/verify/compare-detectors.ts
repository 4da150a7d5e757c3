/** Compares two detectors image by image: every value of every part on equal inputs, then the detections of each side. */
import { getDefined } from '../../src/base/invariant.js';
import { compareDetections, type DetectionComparison } from '../../src/detection/compare/compare-detections.js';
import { compareParts, type ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import { type DetectorPart, isFirstPart } from '../../src/detection/detector/detector-part.js';
import { sizeOfTraced, type TracedImage } from '../../src/detection/detector/saved-trace.js';
import type { RgbImage } from '../../src/detection/image/decode-image.js';
import { type ChosenImage, nameImage, readImage } from './choose-images.js';
import type { VerifyJob } from './params.js';
import type { PartComparer } from './part-errors.js';
import { findKeptReference, openReference, type ReferenceDetector } from './reference.js';
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
  const parts = all.filter(part => !onTiles.includes(part.name));
  const kept = findKeptReference(job, options);
  const looking = kept === undefined ? inputsAhead(parts, images, options, errors) : tracesAhead(parts, images, kept, errors);
  const ahead = await looking.catch(async error => {
    await kept?.close();
    throw error;
  });
  const sides = [
    kept === undefined ? openReference(job, options) : Promise.resolve(kept),
    openSide(inputs, 'candidate', params.candidate, candidateOptions),
  ] as const;
  await withOpened(sides, async ([reference, candidate]) => {
    const mayDiffer = new Set<string>();
    for (const part of parts) for (const output of await errors.openSelections(part.name, formsOf(part, splitKinds))) mayDiffer.add(output);
    for (const [index, chosen] of images.entries()) {
      context.signal.throwIfAborted();
      const { traced, pixels, compared } = ahead[index] ?? NOTHING_AHEAD;
      const { image, trace: right } = traced ?? (await reference.trace(chosen, pixels));
      const own = await candidate.trace(image);
      values.push(await compareParts(right, candidate, own, { splitKinds, shapes: { mayDiffer, differing } }));
      detections.push(compareDetections(chosen.id, right.objects, own.objects, rule));
      for (const { name } of parts) {
        const what = compared.has(name) ? 'selections' : 'all';
        await errors.add(name, getDefined(right.inputs[name], name), { label: nameImage(chosen), what });
      }
      context.progress(index + 1, images.length, 'images');
    }
  });
  return summarize(values, detections, differing);
}

/** What is known of an image before the detectors are open. */
interface Ahead {
  readonly traced?: TracedImage;
  readonly pixels?: RgbImage;
  /** Parts whose inner values on the image the second thread has. */
  readonly compared: ReadonlySet<string>;
}

const NOTHING_AHEAD: Ahead = { compared: new Set() };

/** Bytes of images that are kept from then on. */
const MOST_KEPT_BYTES = 32 << 20;

/** Gives the first images to the second thread, if there is one, with all parts: kept traces have their inputs. */
async function tracesAhead(
  parts: readonly DetectorPart[],
  images: readonly ChosenImage[],
  reference: ReferenceDetector,
  errors: PartComparer,
): Promise<readonly Ahead[]> {
  const ahead: Ahead[] = [];
  let keptBytes = 0;
  for (const image of images) {
    if (!errors.wantsMore() || keptBytes > MOST_KEPT_BYTES) break;
    const traced = await reference.trace(image);
    for (const { name } of parts) await errors.addValues(name, getDefined(traced.trace.inputs[name], name), nameImage(image));
    ahead.push({ traced, compared: new Set(parts.map(({ name }) => name)) });
    keptBytes += sizeOfTraced(traced);
  }
  return ahead;
}

/** The same with the first part alone: its input needs no model. */
async function inputsAhead(
  parts: readonly DetectorPart[],
  images: readonly ChosenImage[],
  { definition }: SideOptions,
  errors: PartComparer,
): Promise<readonly Ahead[]> {
  const first = parts.find(part => isFirstPart(part, definition.parts));
  if (first === undefined) return [];
  const ahead: Ahead[] = [];
  let keptBytes = 0;
  for (const image of images) {
    if (!errors.wantsMore() || keptBytes > MOST_KEPT_BYTES) break;
    const pixels = await readImage(image.path);
    await errors.addValues(first.name, definition.prepareInput(pixels), nameImage(image));
    ahead.push({ pixels, compared: new Set([first.name]) });
    keptBytes += pixels.data.byteLength;
  }
  return ahead;
}
