/** How are two models of one part compared? On what the part sees of each image; RoIs for a head are found by the detector. */
import type { MaskRcnnPart } from '../../src/detection/recipe.js';
import { compareValues, runPart, type ValueComparisons } from '../../src/detection/torchvision/compare-parts.js';
import type { Detector } from '../../src/detection/torchvision/detector.js';
import { collectPartInputs } from '../../src/detection/torchvision/part-inputs.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import type { ChosenImage } from './choose-images.js';
import { prepareFile } from './compare-detectors.js';
import type { VerifyJob } from './params.js';
import { type Summary, summarize } from './report.js';
import { type OpenPart, openPartSide, openSide, type SideOptions, withOpened } from './sides.js';
import type { ValueErrors } from './value-errors.js';

export async function comparePart(
  { inputs, context }: VerifyJob,
  part: MaskRcnnPart,
  images: readonly ChosenImage[],
  { reference: options, candidate: candidateOptions }: { readonly reference: SideOptions; readonly candidate: SideOptions },
  errors: ValueErrors,
): Promise<Summary> {
  const values: ValueComparisons[] = [];
  const sides = [openPartSide(inputs, 'reference', part, options), openPartSide(inputs, 'candidate', part, candidateOptions)] as const;
  const finders = part === 'backbone' ? [] : [openSide(inputs, 'detector', 'parts', options)];
  await withOpened(sides, ([reference, candidate]) =>
    withOpened(finders, async ([detector]) => {
      for (const [index, image] of images.entries()) {
        context.signal.throwIfAborted();
        const input = await readPartInput(part, image.path, detector, options);
        const run = (side: OpenPart) => runPart({ ...options, run: side.run }, part, input);
        values.push(compareValues(await run(reference), await run(candidate)));
        await errors.add(part, input);
        context.progress(index + 1, images.length, 'images');
      }
    }),
  );
  return summarize(values, undefined);
}

async function readPartInput(
  part: MaskRcnnPart,
  path: string,
  detector: Detector | undefined,
  options: SideOptions,
): Promise<Tensor<'float32'>> {
  if (detector === undefined) return (await prepareFile({ ...options, fit: options.fit ?? options.recipe.image.fit }, path)).tensor;
  const limit = Number.POSITIVE_INFINITY;
  return (await collectPartInputs(detector, path, { box: limit, mask: limit }))[part];
}
