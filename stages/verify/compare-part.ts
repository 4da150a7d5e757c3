/** Compares two models of one part on the part's inputs for each image. The detector computes RoIs for heads. */
import { getDefined } from '../../src/base/invariant.js';
import { compareKinds, type ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import type { Detector } from '../../src/detection/detector/detector.js';
import { type DetectorPart, isFirstPart } from '../../src/detection/detector/detector-part.js';
import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type ChosenImage, nameImage, readImage } from './choose-images.js';
import type { VerifyJob } from './params.js';
import type { PartComparer } from './part-errors.js';
import { summarize } from './report.js';
import { formsOf } from './selections.js';
import { listPartsOnTiles, openPartSide, openSide, type SideOptions, withOpened } from './sides.js';
import type { Summary } from './summary.js';

/** @throws StageError `part-unknown`, `detector-missing`. */
export async function comparePart(
  { inputs, context }: VerifyJob,
  name: string,
  images: readonly ChosenImage[],
  { reference: options, candidate: candidateOptions }: { readonly reference: SideOptions; readonly candidate: SideOptions },
  errors: PartComparer,
): Promise<Summary> {
  const part = choosePart(name, options);
  const candidatePart = choosePart(name, candidateOptions);
  const isFirst = isFirstPart(part, options.definition.parts);
  if (!isFirst && inputs.detector === undefined) {
    throw new StageError(
      'detector-missing',
      `part "${name}" needs ${part.rois === 'none' ? 'values of earlier parts' : 'RoI features'}, but no detector is connected to compute them`,
      {
        help: 'connect the float parts to the port `detector`',
      },
    );
  }
  const onTiles = listPartsOnTiles(options, candidateOptions);
  const values: ValueComparisons[] = [];
  const differing = new Map<string, string>();
  const sides = [
    openPartSide(inputs, 'reference', part, options),
    openPartSide(inputs, 'candidate', candidatePart, candidateOptions),
  ] as const;
  const finders = isFirst ? [] : [openSide(inputs, 'detector', 'parts', options)];
  await withOpened(sides, ([reference, candidate]) =>
    withOpened(finders, async ([detector]) => {
      const { splitKinds } = options.definition;
      const mayDiffer = onTiles.includes(name) ? new Set<string>() : await errors.openSelections(name, formsOf(part, splitKinds));
      const compared = { splitKinds, shapes: { mayDiffer, differing } };
      for (const [index, image] of images.entries()) {
        context.signal.throwIfAborted();
        const input = await readPartInput(part, image.path, detector, options);
        values.push(compareKinds(await reference.run(input), await candidate.run(input), compared));
        if (!onTiles.includes(name)) await errors.add(name, input, { label: nameImage(image), what: 'all' });
        context.progress(index + 1, images.length, 'images');
      }
    }),
  );
  return summarize(values, undefined, differing);
}

function choosePart(wanted: string, { definition }: SideOptions): DetectorPart {
  const parts = definition.parts;
  const found = parts.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new StageError('part-unknown', `the recipe has no part "${wanted}"`, {
    help: `choose one of ${parts.map(({ name }) => name).join(', ')}`,
  });
}

async function readPartInput(
  { name }: DetectorPart,
  path: string,
  detector: Detector | undefined,
  { definition }: SideOptions,
): Promise<PartValuesByName> {
  const image = await readImage(path);
  return detector === undefined ? definition.prepareInput(image) : getDefined((await detector.findInputs(image))[name], name);
}
